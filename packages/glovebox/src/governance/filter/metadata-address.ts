// An address can be written in one to four numbers, each decimal, octal or hexadecimal, with zeros before it.
function number(value: number): string {
  return `(?:0x0{0,8}${value.toString(16)}|0{1,12}${value.toString(8)}|${value})`
}

function dotted(address: readonly [number, number, number, number]): string {
  const [a, b, c, d] = address
  const dot = String.raw` ?(?:\.|\[\.\]|\(\.\)|\[dot\]|\(dot\)) ?`
  const forms = [
    [a, b, c, d],
    [a, b, c * 256 + d],
    [a, (b * 256 + c) * 256 + d],
    [((a * 256 + b) * 256 + c) * 256 + d],
  ]
  return forms.map((numbers) => numbers.map(number).join(dot)).join("|")
}

// The last 32 bits of an address of IPv6, after what says that an IPv4 address is inside.
function mapped([a, b, c, d]: readonly [number, number, number, number]): string {
  return `(?:::|(?:0{1,4}:){5})(?:ffff:(?:0{1,4}:)?)?${half(a, b)}:${half(c, d)}`
}

function half(high: number, low: number): string {
  return (high * 256 + low).toString(16)
}

// The services from which a program in a cloud gets the machine's credentials.
const AWS = [169, 254, 169, 254] as const
const CONTAINERS = [169, 254, 170, 2] as const
const ALIBABA = [100, 100, 100, 200] as const

const ADDRESSES = [AWS, CONTAINERS, ALIBABA].flatMap((address) => [dotted(address), mapped(address)])
const NAMES = [
  String.raw`metadata\.google\.internal`,
  String.raw`fd00:ec2::254`,
  String.raw`instance-data\.ec2\.internal`,
]

export const METADATA_ADDRESS: RegExp = new RegExp(
  String.raw`(?<![\w.-])(?:${[...ADDRESSES, ...NAMES].join("|")})(?![\w-]|\.\w)`,
)
