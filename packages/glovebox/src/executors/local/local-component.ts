import { z } from "zod"
import { type ComponentDefinition, GloveboxError, defineComponent } from "../../core/index.ts"
import {
  executorConfigFromOptions,
  executorConfigShape,
  executorOptionsFromConfig,
  languagesConfigSchema,
  languagesToConfig,
} from "../sandbox/executor-config.ts"
import type { LocalCommandLineCodeExecutor } from "./local-command-line-code-executor.ts"
import type { LocalCommandLineCodeExecutorOptions, LocalOptions } from "./local-options.ts"

const configSchema = z.strictObject({
  ...executorConfigShape,
  languages: languagesConfigSchema,
  cleanup_temp_files: z.boolean().nullish(),
  virtual_env_context: z
    .strictObject({ bin_path: z.string(), env_exe: z.string(), env_dir: z.string() })
    .nullish(),
})

type Config = z.output<typeof configSchema>
export type LocalDefinition = ComponentDefinition<z.input<typeof configSchema>, LocalCommandLineCodeExecutor>

/** How the executor is made from a component's data, also from data that AutoGen wrote: only where the program says so. */
export function defineLocal(
  make: (options: LocalCommandLineCodeExecutorOptions) => LocalCommandLineCodeExecutor,
  { dangerouslyRunOnHost }: { readonly dangerouslyRunOnHost?: boolean } = {},
): LocalDefinition {
  return defineComponent({
    provider: "glovebox.executors.LocalCommandLineCodeExecutor",
    aliases: ["autogen_ext.code_executors.local.LocalCommandLineCodeExecutor"],
    type: "code_executor",
    config: configSchema,
    create: (config) => {
      if (dangerouslyRunOnHost !== true) throw hostRefusedToData()
      return make(optionsFromConfig(config))
    },
  })
}

function hostRefusedToData(): GloveboxError {
  return new GloveboxError(
    "HOST_EXECUTION_REFUSED",
    "The data has an executor that runs code on this machine itself, and data alone never switches that on. Put a sandbox in its place; for data that you trust as your own code, register localExecutorComponent({ dangerouslyRunOnHost: true }).",
  )
}

function optionsFromConfig(config: Config): LocalCommandLineCodeExecutorOptions {
  const { virtual_env_context: env } = config
  return {
    dangerouslyRunOnHost: true,
    ...executorOptionsFromConfig(config),
    languages: config.languages ?? undefined,
    cleanupTempFiles: config.cleanup_temp_files ?? undefined,
    virtualEnvContext: env ? { binPath: env.bin_path, envExe: env.env_exe, envDir: env.env_dir } : undefined,
  }
}

export function localConfigFromOptions(
  options: LocalOptions,
  languages: LocalCommandLineCodeExecutorOptions["languages"],
): z.input<typeof configSchema> {
  const { virtualEnv, cleanupTempFiles } = options
  return {
    ...executorConfigFromOptions(options),
    languages: languagesToConfig(languages),
    cleanup_temp_files: cleanupTempFiles,
    virtual_env_context: virtualEnv && {
      bin_path: virtualEnv.binPath,
      env_exe: virtualEnv.envExe,
      env_dir: virtualEnv.envDir,
    },
  }
}
