import { faultForms, OptionError } from '@shardlab/cluster'
import type { Batch } from '@shardlab/dashboard'
import { openDashboard, type DashboardServer, type DashboardTarget, type PageVerb } from '@shardlab/dashboard/server'
import type { Document } from '@shardlab/bson'
import { randomUUID } from 'node:crypto'
import { replyFrom, withoutSecrets } from '../admin-client.js'
import { untilSignal } from '../signals.js'
import type { DashboardOptions } from './dashboard-options.js'

/** A request that waits keeps the cluster from being copied, so it waits for a short time. */
const waitMsMax = 1000

/** @throws OptionError the port is in use. @throws ConnectError no cluster answers */
export async function dashboard({ uri, port }: DashboardOptions): Promise<void> {
  const stopped = untilSignal(false)
  const target = targetAt(uri)
  // Otherwise the page alone would show that there is no cluster.
  await target.close((await target.open()).reader)
  const server = await serve(target, port)
  process.stdout.write(`Dashboard of ${withoutSecrets(uri)}: ${server.url}\nCtrl-C stops it.\n`)
  await stopped
  await server.close()
}

/** @throws OptionError */
async function serve(target: DashboardTarget, port: number): Promise<DashboardServer> {
  try {
    return await openDashboard(target, port)
  } catch (error) {
    throw new OptionError(
      `the dashboard cannot listen on port ${port} (${(error as Error).message}): choose another one, or 0 for any free port.`,
    )
  }
}

/** A cluster of another process, by the commands of its members. */
function targetAt(uri: string): DashboardTarget {
  const events = async (fields: object): Promise<Batch> =>
    (await replyFrom(uri, { shardlab: 'events', ...fields })) as unknown as Batch
  return {
    faultForms,
    open: () => events({}),
    next: (reader, after, waitMs) => events({ reader, after, waitMs: Math.min(waitMs, waitMsMax) }),
    close: async (reader) => void (await events({ reader, close: true })),
    control: async (verb, fields) => replyFrom(uri, commandOf(verb, fields)),
  }
}

function commandOf(verb: PageVerb, fields: Readonly<Record<string, unknown>>): Document {
  if (verb === 'advance')
    throw new OptionError('only the page of the process with the cluster moves its clock: use shardlab up --dashboard.')
  if (verb === 'balancerStart' || verb === 'balancerStop') return { [verb]: 1 }
  return { shardlab: verb, ...fields, ...(verb === 'apply' ? { requestId: randomUUID() } : {}) }
}
