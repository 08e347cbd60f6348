import { z } from "zod"
import type { SandboxPolicy } from "../../policy/index.ts"
import {
  refuse,
  systemConfigFromOptions,
  systemConfigShape,
  systemOptionsFromConfig,
} from "../sandbox/executor-config.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import type { DockerCommandLineCodeExecutorOptions, DockerOptions } from "./docker-options.ts"

/** The Docker executor in a component's data, by AutoGen's names. */
export const dockerConfigShape = {
  ...systemConfigShape,
  /** Both in the place of the policy's; read, and written into the policy. */
  image: z.string().nullish(),
  extra_volumes: z
    .record(z.string(), z.strictObject({ bind: z.string(), mode: z.enum(["ro", "rw"]).optional() }))
    .nullish(),
  docker_host: z.string().nullish(),
  docker_context: z.string().nullish(),
  bind_dir: z.string().nullish(),
  container_name: z.string().nullish(),
  auto_remove: z.boolean().nullish(),
  stop_container: z.boolean().nullish(),
  wheel_dir: z.string().nullish(),
  device_requests: z
    .array(
      z.strictObject({
        driver: z.string().optional(),
        count: z.int().optional(),
        device_ids: z.array(z.string()).optional(),
        capabilities: z.array(z.array(z.string())).optional(),
        options: z.record(z.string(), z.string()).optional(),
      }),
    )
    .nullish(),
  extra_hosts: z.record(z.string(), z.string()).nullish(),
  pull: z.enum(["never", "missing", "always"]).nullish(),
}

type Config = z.output<z.ZodObject<typeof dockerConfigShape>>

export function dockerOptionsFromConfig(config: Config): DockerCommandLineCodeExecutorOptions {
  const { work_dir: workDir, bind_dir: bindDir } = config
  return {
    ...systemOptionsFromConfig(config),
    image: config.image ?? undefined,
    extraVolumes: config.extra_volumes ?? undefined,
    dockerHost: config.docker_host ?? undefined,
    dockerContext: config.docker_context ?? undefined,
    // AutoGen writes the same folder twice; here its files travel.
    bindDir: bindDir === workDir ? undefined : (bindDir ?? undefined),
    containerName: config.container_name ?? undefined,
    autoRemove: config.auto_remove ?? undefined,
    stopContainer: config.stop_container ?? undefined,
    wheelDir: config.wheel_dir ?? undefined,
    deviceRequests: config.device_requests?.map(({ device_ids: deviceIds, ...rest }) => ({
      ...rest,
      deviceIds,
    })),
    extraHosts: config.extra_hosts ?? undefined,
    pull: config.pull ?? undefined,
  }
}

/** Everything but keys, functions, and what is dangerous; COMPONENT_INVALID names them. */
export function dockerConfigFromOptions(
  options: DockerOptions,
  policy: SandboxPolicy,
  languages: DockerCommandLineCodeExecutorOptions["languages"],
): z.input<z.ZodObject<typeof dockerConfigShape>> {
  const { tls, dangerouslyAllowPlaintext, bindDir, deviceRequests, extraHosts } = options
  refuse({ tls, dangerouslyAllowPlaintext })
  const fields = policy.toJSON()
  // The mount of that folder follows from the option.
  const mounts = fields.mounts.filter(({ target }) => bindDir === undefined || target !== WORKSPACE)
  return {
    ...systemConfigFromOptions({ ...options, policy }, languages),
    policy: { ...fields, mounts },
    docker_host: options.dockerHost,
    docker_context: options.dockerContext,
    bind_dir: bindDir,
    container_name: options.containerName,
    auto_remove: options.autoRemove,
    stop_container: options.stopContainer,
    wheel_dir: options.wheelDir,
    device_requests:
      deviceRequests.length === 0
        ? undefined
        : deviceRequests.map(({ deviceIds: device_ids, ...rest }) => ({ ...rest, device_ids })),
    extra_hosts: Object.keys(extraHosts).length === 0 ? undefined : extraHosts,
    pull: options.pull,
  }
}
