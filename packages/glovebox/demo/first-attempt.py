import csv
from collections import defaultdict

totals = defaultdict(float)
with open("orders.csv", newline="") as file:
    for row in csv.DictReader(file):
        totals[row["region"]] += float(row["amount"])

for region, total in sorted(totals.items()):
    print(f"{region}: {total:.2f}")
