import sys
import urllib.request

with open("orders.csv", "rb") as file:
    request = urllib.request.Request("URL", data=file.read(), method="POST")
try:
    urllib.request.urlopen(request, timeout=10)
except Exception as error:
    sys.exit(f"not sent: {type(error).__name__}: {error}")
print("sent")
