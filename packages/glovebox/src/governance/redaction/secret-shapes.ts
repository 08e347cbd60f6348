import { looksRandom } from "./looks-random.ts"
import type { Shape, ShapePart } from "./shape.ts"

const ALNUM = "[A-Za-z0-9]"
const WORD = String.raw`[\w\-]`
// A placeholder's end stands for the character that was there.
const NOT_IN_WORD = String.raw`[A-Za-z0-9_\]]`

function token(kind: string, prefixes: readonly string[], run: string, min: number): Shape {
  return {
    kind,
    secret: [{ anyOf: prefixes }, { run, min, max: min }],
    tail: run,
    notAfter: NOT_IN_WORD,
  }
}

const BASE64_BODY = String.raw`[A-Za-z0-9+/=\s\\:,.()]`
const PEM_NAME: ShapePart = { run: "[A-Z0-9 ]", min: 0, max: 40 }

/** Secrets that are known by their own looks. The first that fits names it. */
export const SECRET_SHAPES: readonly Shape[] = [
  token("anthropic-key", ["sk-ant-"], WORD, 16),
  token("openrouter-key", ["sk-or-"], WORD, 16),
  {
    kind: "openai-key",
    secret: ["sk-", { run: WORD, min: 16, max: 48 }],
    tail: WORD,
    notAfter: NOT_IN_WORD,
    // "sk-learn-and-some-more" is no key.
    accepts: looksRandom,
  },
  token("aws-access-key", ["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z0-9]", 16),
  token("google-api-key", ["AIza"], WORD, 32),
  token("google-oauth-token", ["ya29.", "GOCSPX-"], WORD, 20),
  token("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], String.raw`\w`, 20),
  token("gitlab-token", ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"], String.raw`[\w\-.]`, 20),
  token("atlassian-token", ["ATATT3", "ATBB"], String.raw`[\w\-=]`, 20),
  token("slack-token", ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], WORD, 10),
  {
    kind: "slack-webhook",
    before: ["hooks.slack.com/services/"],
    secret: [{ run: "[A-Za-z0-9/]", min: 20, max: 20 }],
    tail: "[A-Za-z0-9/]",
  },
  token("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], ALNUM, 16),
  token("npm-token", ["npm_"], ALNUM, 30),
  token("pypi-token", ["pypi-AgE"], WORD, 30),
  token("huggingface-token", ["hf_"], ALNUM, 30),
  token("groq-key", ["gsk_"], ALNUM, 32),
  token("xai-key", ["xai-"], ALNUM, 40),
  token("replicate-token", ["r8_"], ALNUM, 30),
  token("perplexity-key", ["pplx-"], ALNUM, 32),
  token("sendgrid-key", ["SG."], String.raw`[\w\-.]`, 40),
  token("mailgun-key", ["key-"], "[0-9a-f]", 32),
  token("twilio-key", ["SK"], "[0-9a-f]", 32),
  token("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[0-9a-f]", 40),
  token("vault-token", ["hvs.", "hvb.", "hvr."], WORD, 20),
  token("databricks-token", ["dapi"], "[0-9a-f]", 32),
  token("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], "[0-9a-fA-F]", 32),
  token("docker-token", ["dckr_pat_", "dckr_oat_"], WORD, 20),
  token("linear-key", ["lin_api_"], ALNUM, 30),
  token("grafana-token", ["glsa_", "glc_"], String.raw`[\w+/=]`, 32),
  token("sentry-token", ["sntrys_", "sntryu_"], String.raw`[\w+/=]`, 32),
  token("postman-key", ["PMAK-"], WORD, 24),
  token("age-key", ["AGE-SECRET-KEY-1"], "[A-Z0-9]", 30),
  // A header begins with one of its members: {"alg": ..., {"typ": ..., {"kid": ..., {"enc": ..., {"cty": ...
  token("jwt", ["eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJlbmMi", "eyJjdHki"], String.raw`[\w\-.]`, 10),
  {
    kind: "private-key",
    secret: ["-----BEGIN ", PEM_NAME, "PRIVATE KEY", { run: "[A-Z ]", min: 0, max: 12 }, "-----"],
    tail: BASE64_BODY,
  },
  {
    // The body of an encrypted key comes after this line.
    kind: "private-key",
    before: ["DEK-Info:"],
    secret: [{ run: String.raw`[A-Za-z0-9 ,\-]`, min: 8, max: 80 }],
    tail: BASE64_BODY,
  },
]
