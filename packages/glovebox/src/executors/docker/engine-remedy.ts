/** What the user can do about an engine that does not answer. */
export function engineRemedy(error: unknown): string {
  switch (codeOf(error)) {
    case "EACCES":
    case "EPERM":
      return "sudo usermod -aG docker $USER, then log in anew (members of that group are root on this machine); or a rootless engine: https://docs.docker.com/engine/security/rootless"
    case "ENOENT":
      return "install and start Docker (https://docs.docker.com/engine/install; from the repository: scripts/engine), or name another engine by dockerHost (--docker-host)"
    case "ECONNREFUSED":
      return "nothing listens there: start the engine (sudo systemctl start docker), or name another by dockerHost (--docker-host)"
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "no machine has that name: check dockerHost (--docker-host), DOCKER_HOST or the context"
    default:
      return "check the address, and that `docker version` answers there"
  }
}

function codeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (cause instanceof Error) return codeOf(cause)
  return typeof code === "string" ? code : ""
}
