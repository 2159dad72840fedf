/** The program of `shardlab-mongod` and `shardlab-mongos`. */
import { parseEmulatedVersion, type EmulatedVersion } from '@shardlab/sharding'
import { buildInfoOf } from './build-info.js'
import { forkedVariable, forkServer } from './fork-server.js'
import { helpOf } from './help.js'
import { optionsOf, type ServerName } from './option-table.js'
import type { GivenOptions } from './given-options.js'
import { parseCommandLine } from './parse-command-line.js'
import { ServerOptionError, serverExitCodes, ServerStartError } from './server-error.js'
import { resolveSettings } from './server-settings.js'

const defaultVersion = '7.0'

/** Ends the process with an exit code of the server, or leaves it running. */
export async function runServer(server: ServerName, args: readonly string[]): Promise<void> {
  try {
    const given = parseCommandLine(args, optionsOf(server))
    if (has(given, 'help')) return void process.stdout.write(helpOf(server))
    const emulate = emulatedVersion()
    if (has(given, 'version')) return void process.stdout.write(versionText(server, emulate))
    const settings = resolveSettings(server, await withConfigFile(server, given))
    if (settings.fork && process.env[forkedVariable] === undefined) return await forkServer(args)
    const { startServer } = await import('./start-server.js')
    await startServer(settings, emulate)
  } catch (error) {
    process.exit(reportStartError(server, error))
  }
}

function has(given: GivenOptions, name: string): boolean {
  return [...given.keys()].some((option) => option.name === name)
}

/** The command line wins. */
async function withConfigFile(server: ServerName, given: GivenOptions): Promise<GivenOptions> {
  const path = [...given].find(([{ name }]) => name === 'config')?.[1]
  if (path === undefined) return given
  const { readConfigFile } = await import('./parse-config-file.js')
  return new Map([...readConfigFile(path as string, optionsOf(server)), ...given])
}

/** `SHARDLAB_EMULATE`, because tools do not pass options of ours. */
function emulatedVersion(): EmulatedVersion {
  const name = process.env['SHARDLAB_EMULATE'] ?? defaultVersion
  const version = parseEmulatedVersion(name)
  if (version === undefined) throw new ServerOptionError(`SHARDLAB_EMULATE is ${name}, which is not emulated`)
  return version
}

function versionText(server: ServerName, emulate: EmulatedVersion): string {
  const build = buildInfoOf(emulate)
  const first = server === 'mongos' ? 'mongos' : 'db'
  return `${first} version v${String(build['version'])}\nBuild Info: ${JSON.stringify(build, null, 4)}\n`
}

function reportStartError(server: ServerName, error: unknown): number {
  if (error instanceof ServerOptionError) {
    process.stderr.write(`${error.message}\ntry '${server} --help' for more information\n`)
    return serverExitCodes.badOptions
  }
  if (error instanceof ServerStartError) {
    process.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
  process.stderr.write(`${server}: internal error, please report it: ${String((error as Error).stack ?? error)}\n`)
  return serverExitCodes.uncaught
}
