import { counted } from '@shardlab/quantities'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  checkExportFolder,
  ClusterSnapshot,
  OptionError,
  resolveStartOptions,
  ShardedCluster,
  type ClusterOptions,
  type ResolvedOptions,
  type SetInfo,
  type ShardInfo,
  type StandbyInfo,
} from '@shardlab/cluster'
import { exitCodes } from '../exit-codes.js'
import type { ControlServer } from '../control/control-server.js'
import { clusterOptions } from './cluster-options.js'
import type { UpOptions } from './up-options.js'

/** After this time busy connections are closed, so that `up` ends within a second of a signal. */
const stopGraceMs = 800
/** Hosts end their members when the cluster leaves them; one that is silent is waited for. */
const hostsGraceMs = 8000
const longestDelayMs = 2 ** 31 - 1

/** Ends the process with code 0 when `stopped` resolves. Rejects when the cluster cannot start. */
export async function up(options: UpOptions, stopped: Promise<void>): Promise<void> {
  const startedMs = performance.now()
  if (options.exportOnExit !== undefined) await checkExportFolder(options.exportOnExit)
  const starting = startWith(options)
  const started = await Promise.race([starting, stopped])
  if (started === undefined) {
    // Otherwise nothing of a cluster that is still starting outlives the process.
    if (options.nats !== undefined)
      await atMost(
        hostsGraceMs,
        starting.then(({ cluster }) => cluster.stop()),
      )
    process.exit(exitCodes.fine)
  }
  const { cluster, resolved } = started
  if (options.import !== undefined) await importInto(cluster, options.import, options.quiet === true)
  cluster.on('member', (event) => {
    if (event.state === 'crashed' && event.error !== undefined)
      process.stderr.write(`shardlab: ${event.member} crashed: ${event.error}\n`)
  })
  cluster.on('log', ({ level, member, message, fields }) => {
    if (options.quiet !== true && (level === 'warn' || level === 'error'))
      process.stderr.write(`${member}: ${message}${textOf(fields)}\n`)
  })
  const control = options.controlPort === undefined ? null : await openControlOf(cluster, options.controlPort)
  if (options.json === true) {
    const { dashboard } = cluster
    const urls = { ...(control === null ? {} : { control: control.url }), ...(dashboard === null ? {} : { dashboard }) }
    process.stdout.write(`${JSON.stringify({ ...addressesOf(cluster), ...urls })}\n`)
  } else if (options.quiet !== true) {
    const pages = [
      ...(cluster.dashboard === null ? [] : [`  Dashboard: ${cluster.dashboard}`]),
      ...(control === null ? [] : [`  Control: ${control.url}/openapi.json`]),
    ]
    const text = welcome(cluster, resolved, performance.now() - startedMs)
    process.stdout.write([text, ...pages, ...(pages.length === 0 ? [] : ['']), '  Ctrl-C stops it.\n'].join('\n'))
  }
  // Otherwise the cluster would warn that nothing else keeps the process alive.
  setInterval(() => {}, longestDelayMs)
  await stopped
  const isExported =
    options.exportOnExit === undefined || (await exportFrom(cluster, options.exportOnExit, options.quiet === true))
  const graceMs = options.nats === undefined ? stopGraceMs : hostsGraceMs
  await atMost(graceMs, Promise.all([cluster.stop(), control?.close()]))
  process.exit(isExported ? exitCodes.fine : exitCodes.failed)
}

async function atMost(durationMs: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), sleep(durationMs)])
}

/** @throws OptionError */
async function importInto(cluster: ShardedCluster, folder: string, isQuiet: boolean): Promise<void> {
  try {
    const { collections, documents } = await cluster.importDump(folder)
    if (!isQuiet)
      process.stderr.write(
        `shardlab: imported ${counted(collections, 'collection')} with ${counted(documents, 'document')} from ${folder}\n`,
      )
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** @returns whether it has been written */
async function exportFrom(cluster: ShardedCluster, folder: string, isQuiet: boolean): Promise<boolean> {
  try {
    const { collections, documents } = await cluster.exportDump(folder)
    if (!isQuiet)
      process.stderr.write(
        `shardlab: exported ${counted(collections, 'collection')} with ${counted(documents, 'document')} to ${folder}\n`,
      )
    return true
  } catch (error) {
    process.stderr.write(`shardlab: nothing was exported to ${folder}: ${(error as Error).message}\n`)
    return false
  }
}

/** @throws OptionError an option of the command line is in the topology file, too */
async function startWith(options: UpOptions): ReturnType<typeof start> {
  const given = clusterOptions(options)
  if (options.topologyFile === undefined) return start(given, options.controlPort)
  const { readTopologyFile } = await import('../topology/topology-file.js')
  const ofFile = await readTopologyFile(options.topologyFile)
  const twice = Object.keys(ofFile).find((name) => given[name as keyof ClusterOptions] !== undefined)
  if (twice !== undefined)
    throw new OptionError(`${twice} is in ${options.topologyFile} and on the command line: remove one of them.`)
  return start({ ...given, ...ofFile }, options.controlPort)
}

/** @throws OptionError the port is in use */
async function openControlOf(cluster: ShardedCluster, port: number): Promise<ControlServer> {
  const { openControl } = await import('../control/control-server.js')
  try {
    return await openControl(cluster, port)
  } catch (error) {
    await cluster.stop()
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptionError(
      code === 'EADDRINUSE'
        ? `control port ${port} is in use: choose another one, or 0 for any free port.`
        : `the control port ${port} cannot be opened (${message}): choose another one, or 0 for any free port.`,
    )
  }
}

/** @throws OptionError */
async function start(
  options: ClusterOptions,
  controlPort: number | undefined,
): Promise<{ cluster: ShardedCluster; resolved: ResolvedOptions }> {
  const { from } = options
  const given = typeof from === 'string' ? { ...options, from: await ClusterSnapshot.load(from) } : options
  const resolved = await resolveStartOptions(given)
  const isAdvanced = controlPort !== undefined || (given.dashboard ?? false) !== false
  if (resolved.clock === 'manual' && !isAdvanced)
    throw new OptionError(
      from === undefined
        ? 'a manual clock needs --control-port or --dashboard, by which it is advanced.'
        : `${String(from)} is the snapshot of a cluster with a manual clock, which up advances only by --control-port or --dashboard: add one of them, or use a snapshot of a cluster with a real clock.`,
    )
  return { cluster: await ShardedCluster.start(given), resolved }
}

function addressesOf({ id, uri, set, config, shards, standby, mongos }: ShardedCluster): object {
  if (set !== null) return { ready: true, id, uri, set }
  return config === null ? { ready: true, id, uri } : { ready: true, id, uri, config, shards, standby, mongos }
}

function welcome(cluster: ShardedCluster, resolved: ResolvedOptions, tookMs: number): string {
  const { emulate, topology } = resolved
  const { id, uri, set, shards, standby, mongos } = cluster
  if (set !== null) return welcomeToSet(cluster, set, resolved, tookMs)
  if (topology === 'standalone') return welcomeToStandalone(uri, resolved, tookMs)
  const lines = [
    ...list('Single shards', shards),
    ...list('Not added yet', standby),
    '  Try next:',
    ...tryNext(shellOf(uri, resolved), standby, resolved).map((line) => `    ${line}`),
  ]
  return `
  Sharded cluster ${id} is running: ${counted(shards.length, 'shard')}, config server, ${mongos.length} mongos, balancer (${Math.round(tookMs)} ms).
  It emulates MongoDB ${emulate}. ${dataOf(resolved)}

    ${uri}

${lines.join('\n')}
`
}

function welcomeToSet(
  { uri }: ShardedCluster,
  { name, members }: SetInfo,
  resolved: ResolvedOptions,
  tookMs: number,
): string {
  const { initiate: isInitiated, emulate, auth } = resolved
  const shell = shellOf(uri, resolved)
  const next = !isInitiated
    ? [`${shellOf(members[0]!.uri, resolved)} --eval '${initiation(name, members)}'`]
    : auth
      ? [firstUser(shell)]
      : [`${shell} --eval "rs.status()"`, `${shell} --eval "rs.stepDown()"`]
  return `
  Replica set ${name} is running: ${counted(members.length, 'member')}${isInitiated ? '' : ', not initiated'} (${Math.round(tookMs)} ms).
  It emulates MongoDB ${emulate}. ${dataOf(resolved)}

    ${uri}

${list('Single members', members).join('\n')}
  Try next:
${next.map((line) => `    ${line}`).join('\n')}
`
}

function dataOf({ dbPath, nats }: Pick<ResolvedOptions, 'dbPath' | 'nats'>): string {
  if (nats !== null) return 'Data is on the hosts, in memory unless they have --dbpath.'
  return dbPath === null ? 'Data is held in memory and is lost when the process ends.' : `Data is kept in ${dbPath}.`
}

function initiation(name: string, members: readonly ShardInfo[]): string {
  const hosts = members.map(({ uri }, i) => `{ _id: ${i}, host: "${new URL(uri).host}" }`)
  return `rs.initiate({ _id: "${name}", members: [${hosts.join(', ')}] })`
}

function welcomeToStandalone(uri: string, resolved: ResolvedOptions, tookMs: number): string {
  return `
  A standalone mongod is running, without a replica set (${Math.round(tookMs)} ms).
  It emulates MongoDB ${resolved.emulate}. ${dataOf(resolved)}

    ${uri}

  Try next:
    ${resolved.auth ? firstUser(shellOf(uri, resolved)) : `${shellOf(uri, resolved)} --eval "db.hello()"`}
`
}

function list(title: string, members: readonly ShardInfo[]): string[] {
  return members.length === 0 ? [] : [`  ${title}:`, ...members.map(({ id, uri }) => `    ${id}  ${uri}`), '']
}

/** With the files that its TLS needs. */
function shellOf(uri: string, { tls }: ResolvedOptions): string {
  if (tls?.CAFile === undefined) return `mongosh "${uri}"`
  const isAsked = tls.allowConnectionsWithoutCertificates !== true
  return `mongosh "${uri}" --tlsCAFile ${tls.CAFile}${isAsked ? ' --tlsCertificateKeyFile YOUR.pem' : ''}`
}

/** By the localhost exception. */
const firstUser = (shell: string): string =>
  `${shell} --eval 'db.getSiblingDB("admin").createUser({ user: "root", pwd: "secret", roles: ["root"] })'`

function tryNext(mongosh: string, [first]: readonly StandbyInfo[], { auth }: ResolvedOptions): string[] {
  const shell = (code: string): string => `${mongosh} --eval ${code}`
  if (auth) return [firstUser(mongosh)]
  return [
    ...(first === undefined ? [] : [shell(`'sh.addShard("${first.host}")'`)]),
    shell('"sh.status()"'),
    shell(`'sh.enableSharding("shop"); sh.shardCollection("shop.orders", { customer: "hashed" })'`),
  ]
}

/** After a message. */
const textOf = (fields: Readonly<Record<string, unknown>>): string =>
  Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
