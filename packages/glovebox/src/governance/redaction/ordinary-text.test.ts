import { createHash, randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { Redactor } from "./index.ts"

const redactor = new Redactor({ environment: false })

it.each([
  "tokenizer: cl100k_base",
  "tokenizer=gpt2-medium-v2",
  "tokenization_model: bert-base-v2-0815",
  'password = hashlib.sha256(b"x").hexdigest()',
  "token = base64.b64encode(data)",
  "secret = secrets.token_hex2(16)",
  "token_endpoint: auth0.example.com/oauth2/v2",
  "password_file: /run/db/password1.txt2",
  "max_tokens: 4096, tokens_used = 12_345",
  "Passwords need 8 characters, as in Passw0rd99; the secret is 2 eggs.",
  "\u001B[31mred\u001B[0m \u001B[2K\r100% 3.14159265358979",
  `commit ${createHash("sha1").update("x").digest("hex")} of ${randomUUID()}`,
  `sha256:${createHash("sha256").update("x").digest("hex")}`,
  `![plot](data:image/png;base64,${createHash("sha512").update("x").digest("base64")})`,
  '{"usage":{"prompt_tokens":1200,"completion_tokens":88}}',
])("leaves ordinary text as it is: %j", (text) => {
  expect(redactor.text(text)).toBe(text)
})

it.each([
  ["tokenizer_token=q8Zr1xPa77", "tokenizer_token=[redacted:secret]"],
  ["password: q8Zr1xPa77", "password: [redacted:secret]"],
  ["my_secret_file_key_secret=q8Zr1xPa77", "my_secret_file_key_secret=[redacted:secret]"],
])("and finds a secret beside it: %s", (text, clean) => {
  expect(redactor.text(text)).toBe(clean)
})
