import { bodyOfPageCommand, faultForms, killOfRest, openPage, OptionError, replyOfPageCommand } from '@shardlab/cluster'
import type { Batch } from '@shardlab/dashboard'
import type { DashboardAccess, DashboardTarget, PageFields, PageVerb } from '@shardlab/dashboard/server'
import type { Document } from '@shardlab/bson'
import { randomUUID } from 'node:crypto'
import { AdminConnection, replyFrom, runCommand } from '../admin-client.js'
import { LoginNeededError } from '../connect-error.js'
import { withoutSecrets } from '../hosts-of-uri.js'
import { KnownMembers } from '../known-members.js'
import { untilSignal } from '../signals.js'
import type { DashboardOptions } from './dashboard-options.js'

/** A request that waits keeps the cluster from being copied, so it waits for a short time. */
const waitMsMax = 1000

/** @throws OptionError the port is in use. @throws ConnectError no cluster answers */
export async function dashboard({ uri, port }: DashboardOptions): Promise<void> {
  const stopped = untilSignal(false)
  const server = await openPage(await targetAt(uri), port, null)
  process.stdout.write(`Dashboard of ${withoutSecrets(uri)}: ${server.url}\nCtrl-C stops it.\n`)
  await stopped
  await server.close()
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
  const known = new KnownMembers(uri)
  return {
    ...{ faultForms, needsLogin },
    async enter(login) {
      const members = login === null ? known : known.withLogin(login)
      await replyFrom(members.uri, { shardlab: 'list' })
      return accessBy(members)
    },
  }
}

function accessBy(members: KnownMembers): DashboardAccess {
  // Other commands have their own connections, so that they do not wait for deltas.
  const stream = new AdminConnection(() => members.uri)
  const events = async (fields: object): Promise<Batch> => {
    const batch = (await stream.reply({ shardlab: 'events', ...fields })) as unknown as Batch
    members.note(batch.deltas)
    return batch
  }
  return {
    open: () => events({}),
    next: (reader, after, waitMs) => events({ reader, after, waitMs: Math.min(waitMs, waitMsMax) }),
    close: async (reader) => void (await replyFrom(members.uri, { shardlab: 'events', reader, close: true })),
    async control(verb, fields) {
      if (forRouters.has(verb) && members.areRoutersDown) throw new OptionError('no mongos runs')
      if (verb === 'runCommand') return commandAt(members.routersUri, fields)
      return replyFrom(forRouters.has(verb) ? members.routersUri : members.uri, commandOf(verb, fields))
    },
    end: () => stream.close(),
  }
}

/** Other members refuse them, or do something else. */
const forRouters: ReadonlySet<PageVerb> = new Set([
  ...(['balancerStart', 'balancerStop', 'explainBalance', 'runCommand', 'runRound'] as const),
])

async function commandAt(uri: string, fields: PageFields): Promise<object> {
  const reply = await runCommand(uri, bodyOfPageCommand(fields))
  const kill = killOfRest(reply)
  if (kill !== null) await runCommand(uri, kill)
  return replyOfPageCommand(reply)
}

function commandOf(verb: Exclude<PageVerb, 'runCommand'>, fields: PageFields): Document {
  if (verb === 'advance' || verb === 'playClock')
    throw new OptionError('only the page of the process with the cluster moves its clock: use shardlab up --dashboard.')
  if (verb === 'balancerStart' || verb === 'balancerStop') return { [verb]: 1 }
  return { shardlab: verb, ...fields, ...(verb === 'apply' ? { requestId: randomUUID() } : {}) }
}
