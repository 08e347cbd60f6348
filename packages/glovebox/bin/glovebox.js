#!/usr/bin/env node
import { guardProcess } from "../dist/cli/guard-process.js"
import { main } from "../dist/cli/main.js"

guardProcess()
process.exitCode = await main(process.argv)
