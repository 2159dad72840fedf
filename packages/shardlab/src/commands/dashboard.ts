import { bodyOfPageCommand, faultForms, killOfRest, OptionError, replyOfPageCommand } from '@shardlab/cluster'
import type { Batch } from '@shardlab/dashboard'
import {
  openDashboard,
  type DashboardAccess,
  type DashboardServer,
  type DashboardTarget,
  type PageFields,
  type PageVerb,
} from '@shardlab/dashboard/server'
import type { Document } from '@shardlab/bson'
import { randomUUID } from 'node:crypto'
import { AdminConnection, replyFrom, runCommand, withoutSecrets } from '../admin-client.js'
import { LoginNeededError } from '../connect-error.js'
import { withLogin } from '../login-of-uri.js'
import { untilSignal } from '../signals.js'
import type { DashboardOptions } from './dashboard-options.js'

/** A request that waits keeps the cluster from being copied, so it waits for a short time. */
const waitMsMax = 1000

/** @throws OptionError the port is in use. @throws ConnectError no cluster answers */
export async function dashboard({ uri, port }: DashboardOptions): Promise<void> {
  const stopped = untilSignal(false)
  const server = await serve(await targetAt(uri), port)
  process.stdout.write(`Dashboard of ${withoutSecrets(uri)}: ${server.url}\nCtrl-C stops it.\n`)
  await stopped
  await server.close()
}

/** @throws OptionError */
async function serve(target: DashboardTarget, port: number): Promise<DashboardServer> {
  try {
    return await openDashboard(target, { port, exposure: null })
  } catch (error) {
    throw new OptionError(
      `the dashboard cannot listen on port ${port} (${(error as Error).message}): choose another one, or 0 for any free port.`,
    )
  }
}

/**
 * A cluster of another process, by the commands of its members. Pages log in if the URI has no user
 * and the cluster wants one.
 * @throws ConnectError no cluster answers: otherwise the page alone would show that
 */
async function targetAt(uri: string): Promise<DashboardTarget> {
  let needsLogin = false
  try {
    await replyFrom(uri, { shardlab: 'list' })
  } catch (error) {
    if (!(error instanceof LoginNeededError)) throw error
    needsLogin = true
  }
  return {
    ...{ faultForms, needsLogin },
    async enter(login) {
      const own = login === null ? uri : withLogin(uri, login)
      await replyFrom(own, { shardlab: 'list' })
      return accessAt(own)
    },
  }
}

function accessAt(uri: string): DashboardAccess {
  // Other commands have their own connections, so that they do not wait for deltas.
  const stream = new AdminConnection(uri)
  const events = async (fields: object): Promise<Batch> =>
    (await stream.reply({ shardlab: 'events', ...fields })) as unknown as Batch
  return {
    open: () => events({}),
    next: (reader, after, waitMs) => events({ reader, after, waitMs: Math.min(waitMs, waitMsMax) }),
    close: async (reader) => void (await replyFrom(uri, { shardlab: 'events', reader, close: true })),
    control: async (verb, fields) =>
      verb === 'runCommand' ? commandAt(uri, fields) : replyFrom(uri, commandOf(verb, fields)),
    end: () => stream.close(),
  }
}

async function commandAt(uri: string, fields: PageFields): Promise<object> {
  const reply = await runCommand(uri, bodyOfPageCommand(fields))
  const kill = killOfRest(reply)
  if (kill !== null) await runCommand(uri, kill)
  return replyOfPageCommand(reply)
}

function commandOf(verb: Exclude<PageVerb, 'runCommand'>, fields: PageFields): Document {
  if (verb === 'advance')
    throw new OptionError('only the page of the process with the cluster moves its clock: use shardlab up --dashboard.')
  if (verb === 'balancerStart' || verb === 'balancerStop') return { [verb]: 1 }
  return { shardlab: verb, ...fields, ...(verb === 'apply' ? { requestId: randomUUID() } : {}) }
}
