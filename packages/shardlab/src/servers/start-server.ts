/** Runs a server until a signal or the command `shutdown`. */
import { EmulatedServer, ServerDirectoryError, TlsOptionError } from '@shardlab/cluster'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { hostname } from 'node:os'
import { buildInfoOf } from './build-info.js'
import { reportOf } from './data-directory.js'
import { nestedByPath } from './given-options.js'
import { keyFileProblem } from './key-file.js'
import { applyProfiling, startParameters } from './server-parameters.js'
import { ServerLog, type LogLine } from './server-log.js'
import { nameProcess, ServerProcess } from './server-process.js'
import { initializationError, serverExitCodes } from './server-error.js'
import type { ServerSettings } from './server-settings.js'

export async function startServer(settings: ServerSettings, emulate: EmulatedVersion): Promise<void> {
  const { server: name, role, port, hosts, setName, configDb, dbPath, storesData, tls, auth, maxConns } = settings
  nameProcess(name)
  const log = new ServerLog(settings)
  const serverProcess = new ServerProcess(log, settings)
  const keyProblem = settings.keyFile === null ? null : keyFileProblem(settings.keyFile)
  if (keyProblem !== null) return refuseKey(log, serverProcess, keyProblem)
  const { tlsNeedsAuthority } = behavioursOf(emulate)
  if (tls !== null && tls.CAFile === undefined && tlsNeedsAuthority)
    throw initializationError(
      name,
      'InvalidSSLConfiguration: The use of TLS without specifying a chain of trust is no longer supported',
    )
  const main = name === 'mongos' ? 'mongosMain' : 'initandlisten'
  logBuild(log, main, settings, emulate)
  if (!auth)
    log.add({
      ...{ severity: 'W', component: 'CONTROL', id: 22_120, context: main },
      message:
        'Access control is not enabled for the database. Read and write access to data and configuration is unrestricted',
    })
  const given = await startParameters(settings, emulate, log)
  try {
    const server = await EmulatedServer.start({
      ...{ role, setName, host: hosts[0]!, port, emulate, auth },
      ...(configDb === null ? {} : { configDb }),
      ...(tls === null ? {} : { tls }),
      ...(dbPath === null ? {} : { dbPath, storesData }),
      ...(maxConns === null ? {} : { limits: { maxIncomingConnections: maxConns } }),
      ...{ furtherHosts: hosts.slice(1), ...given },
      onEvent: (event) => serverProcess.note(event),
      onWritable: () => serverProcess.noteWritable(),
    })
    const boundPort = Number(server.endpoint.split(':').at(-1))
    await applyProfiling(server, settings)
    serverProcess.stopWith(() => server.stop())
    for (const address of hosts)
      log.add({ ...listener, id: 23015, message: 'Listening on', attributes: { address: `${address}:${boundPort}` } })
    log.add({
      ...{ ...listener, context: name === 'mongos' ? main : 'listener', id: 23016 },
      ...{ message: 'Waiting for connections', attributes: { port: boundPort, ssl: tls === null ? 'off' : 'on' } },
    })
    // To the parent of `--fork`.
    process.send?.('ready')
  } catch (error) {
    if (error instanceof TlsOptionError) throw initializationError(name, `InvalidSSLConfiguration: ${error.message}`)
    if (error instanceof ServerDirectoryError) {
      const { line, exitCode } = reportOf(error, { ...settings, dbPath: dbPath! })
      log.add(line)
      return serverProcess.exit(exitCode)
    }
    const reason = listenProblem(error)
    if (reason === null) throw error
    log.add({
      ...{ severity: 'E', component: 'CONTROL', id: name === 'mongos' ? 22856 : 20568, context: main },
      message: 'Error setting up listener',
      attributes: { error: { code: 9001, codeName: 'SocketException', errmsg: reason } },
    })
    serverProcess.exit(serverExitCodes.netError)
  }
}

/** Server: mongod_main.cpp, createServiceContext. */
function refuseKey(log: ServerLog, serverProcess: ServerProcess, problem: LogLine): void {
  log.add(problem)
  log.add({
    ...{ severity: 'F', component: 'CONTROL', id: 20575, context: 'main', message: 'Error creating service context' },
    attributes: { error: 'Location5579201: Unable to acquire security key[s]' },
  })
  serverProcess.exit(serverExitCodes.initialization)
}

const listener = { component: 'NETWORK', context: 'listener' }

function logBuild(
  log: ServerLog,
  context: string,
  { server, port, dbPath, given }: ServerSettings,
  emulate: EmulatedVersion,
): void {
  const starting = { pid: process.pid, port, ...(server === 'mongod' ? { dbPath } : {}), architecture: '64-bit' }
  if (server === 'mongod')
    log.add({
      ...{ component: 'CONTROL', id: 4615611, context, message: 'MongoDB starting' },
      attributes: { ...starting, host: hostname() },
    })
  log.add({
    component: 'CONTROL',
    id: 23403,
    context,
    message: 'Build Info',
    attributes: { buildInfo: buildInfoOf(emulate) },
  })
  log.add({
    ...{ component: 'CONTROL', id: 21951, context, message: 'Options set by command line' },
    attributes: { options: nestedByPath(given) },
  })
}

/** Null: another error. */
function listenProblem(error: unknown): string | null {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return 'Address already in use'
    case 'EACCES':
      return 'Permission denied'
    case 'EADDRNOTAVAIL':
      return 'Cannot assign requested address'
    case 'ENOTFOUND':
      return 'Could not find address'
    default:
      return null
  }
}
