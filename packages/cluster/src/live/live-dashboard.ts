/** The dashboard of a cluster in this process. */
import { configAddress } from '@shardlab/actor'
import type {
  DashboardAccess,
  DashboardServer,
  DashboardTarget,
  Exposure,
  PageFields,
  PageVerb,
} from '@shardlab/dashboard/server'
import { certificateReader } from '@shardlab/runtime'
import { manualRuntime } from '../create-runtime.js'
import { DumpClient } from '../dumps/dump-client.js'
import { faultForms } from '../faults/grammar.js'
import { isLoopback } from '../exposure.js'
import { OptionError } from '../option-error.js'
import { primaryOf } from '../sets/primary-of.js'
import { timeToAdvance } from '../quantity-options.js'
import { ClockPlayer } from './clock-player.js'
import { chunkSizes } from './chunk-sizes.js'
import { documentsByShard } from './documents-by-shard.js'
import type { ResolvedOptions } from '../resolved-options.js'
import type { LiveRecorder } from './live-recorder.js'
import { openPage } from './open-page.js'
import { bodyOfPageCommand, killOfRest, replyOfPageCommand } from './page-command.js'
import { NoServerError, PageConnection } from './page-connection.js'
import type { ShownCluster } from './shown-cluster.js'

/** How often an open page is checked whose user reads only. */
const checkIntervalMs = 5000

/** @throws OptionError the port is in use */
export async function openLiveDashboard(
  cluster: ShownCluster,
  recorder: LiveRecorder,
  port: number,
): Promise<DashboardServer> {
  return openPage(targetOf(cluster, recorder), port, await exposureOf(cluster.options))
}

/**
 * Other machines can open the page if the cluster listens there, with users and TLS. Without TLS
 * the page would send the password of its user as text, which drivers never do.
 */
async function exposureOf({ auth, tls, host, announcedHost, nats }: ResolvedOptions): Promise<Exposure | null> {
  if (!auth || tls === null || nats !== null || isLoopback(host)) return null
  const name = announcedHost.includes(':') ? `[${announcedHost}]` : announcedHost
  return { host, name, certificate: await certificateReader(tls) }
}

function targetOf(cluster: ShownCluster, recorder: LiveRecorder): DashboardTarget {
  const { runtime, options } = cluster
  const player = new ClockPlayer(recorder, {
    now: () => runtime.now(),
    advance: (durationMs) => manualRuntime(runtime, options).advance(durationMs),
  })
  return {
    ...{ faultForms, needsLogin: options.auth },
    async enter(login) {
      const connection = new PageConnection(runtime, options)
      if (login === null) return accessOf(cluster, recorder, player, connection)
      try {
        await connection.logIn(login)
        await checkControl(connection)
      } catch (error) {
        connection.end()
        throw error
      }
      const access = accessOf(cluster, recorder, player, connection)
      let checkedMs = performance.now()
      const check = async (): Promise<void> => {
        await checkControl(connection).catch((error: unknown) => exceptWithoutUsers(error, cluster))
        checkedMs = performance.now()
      }
      return {
        ...access,
        async next(reader, after, waitMs) {
          if (performance.now() - checkedMs > checkIntervalMs) await check()
          return access.next(reader, after, waitMs)
        },
        async control(verb, fields) {
          await check()
          return access.control(verb, fields)
        },
      }
    },
  }
}

/** @throws OptionError the user may not control the cluster */
async function checkControl(connection: PageConnection): Promise<void> {
  const reply = await connection.command('admin', { shardlab: 'list' })
  if (reply['ok'] !== 1) throw new OptionError(`the user may not control the cluster: ${String(reply['errmsg'])}`)
}

/**
 * The user has shown its rights before, and a page must be able to heal what answers about users:
 * the routers and the config server.
 */
async function exceptWithoutUsers(error: unknown, { runtime, options }: ShownCluster): Promise<void> {
  if (error instanceof NoServerError) return
  if (options.topology === 'sharded' && (await primaryOf(runtime, configAddress)) === null) return
  throw error
}

function accessOf(
  { runtime, faults, balancer, options }: ShownCluster,
  recorder: LiveRecorder,
  player: ClockPlayer,
  connection: PageConnection,
): DashboardAccess {
  const client = new DumpClient(runtime, options)
  const read = { runtime, topology: options.topology }
  const verbs: { readonly [Verb in PageVerb]: (fields: PageFields) => Promise<object> } = {
    apply: ({ fault }) => faults.apply(fault as string),
    heal: async ({ id }) => ({ healed: await faults.heal(id as string | undefined) }),
    explainBalance: async ({ ns }) => ({ explanation: await balancer.explain(ns as string) }),
    runRound: async () => ({ round: await balancer.runRound() }),
    balancerStart: async () => command('balancerStart'),
    balancerStop: async () => command('balancerStop'),
    documents: async (fields) => ({ shards: await documentsByShard(read, { ...fields }) }),
    chunkSizes: async (fields) => ({ shards: await chunkSizes(read, { ...fields }) }),
    runCommand: async (fields) => {
      const reply = await connection.send(bodyOfPageCommand(fields))
      const kill = killOfRest(reply)
      if (kill !== null) await connection.send(kill)
      return replyOfPageCommand(reply)
    },
    advance: async ({ durationMs }) => {
      await player.advance(timeToAdvance(durationMs as number))
      return {}
    },
    playClock: async ({ speed }) => {
      await player.play(speed)
      return {}
    },
  }
  async function command(name: string): Promise<object> {
    await client.run('admin', (writer) => writer.int32(name, 1))
    return {}
  }
  return {
    open: async () => recorder.next(await recorder.open(), 0, 0),
    next: (reader, after, waitMs) => recorder.next(reader, after, waitMs),
    close: async (reader) => recorder.close(reader),
    control: (verb, fields) => verbs[verb](fields),
    end: () => connection.end(),
  }
}
