// The kernel's own order: a capability's place in the list is its bit.
const CAPABILITIES =
  "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE".split(
    " ",
  )

/** The capabilities in a mask of `/proc/<pid>/status`; undefined for what is no mask. */
export function capabilitiesIn(mask: string | null | undefined): string[] | undefined {
  if (!mask || !/^[0-9a-f]+$/i.test(mask)) return undefined
  const bits = BigInt(`0x${mask}`).toString(2).split("").toReversed()
  return bits
    .flatMap((bit, number) => (bit === "1" ? [CAPABILITIES[number] ?? `CAP_${number}`] : []))
    .toSorted()
}
