import type { Address, ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import type { AppliedFault } from './applied-fault.js'
import type { FaultInput } from './fault-data.js'
import type { Faults } from './faults.js'

/** Serves the verbs of the command `shardlab` about faults. `from`: its receiver. */
export function answerAboutFaults(
  faults: Faults,
  { verb, body }: RequestOf<'cluster.command'>,
  from: Address,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(() => run(faults, verb, decode(body, { promoteLongs: true }), from))
}

async function run(faults: Faults, verb: string, command: Document, from: Address): Promise<Document> {
  switch (verb) {
    case 'apply':
      return applyOnce(faults, faultOf(command['fault']), command['requestId'], from)
    case 'list':
      return {
        faults: faults.list().map((each) => {
          const { id, fault, state, members, strikes } = each
          return { id, fault, state, members, ...timesOf(each), strikes }
        }),
      }
    case 'heal':
      return { healed: await faults.healInBackground(idOf(command['id'])) }
    case 'reached':
      return faults.reachedInBackground(idToWaitFor(command['id']))
    default:
      throw new OptionError(`unknown verb: ${verb}.`)
  }
}

const timesOf = ({ beginsAtMs, healsAtMs }: AppliedFault) => ({
  beginsAt: new Date(beginsAtMs),
  healsAt: healsAtMs === null ? null : new Date(healsAtMs),
})

type Applying = Promise<Document>

/** Of the newest requests, in the order of their arrival. */
const requests = new WeakMap<Faults, Map<string, Applying>>()
const requestsMax = 1000

/** A fault that is over at once has no times. */
async function apply(faults: Faults, fault: FaultInput | string, from: Address): Promise<Document> {
  const { id } = await faults.applyInBackground(fault, from)
  const listed = faults.list().find((each) => each.id === id)
  return listed === undefined ? { id } : { id, ...timesOf(listed) }
}

function applyOnce(faults: Faults, fault: FaultInput | string, requestId: unknown, from: Address): Applying {
  if (requestId === undefined) return apply(faults, fault, from)
  if (typeof requestId !== 'string') throw new OptionError('requestId must be a text that no other request has.')
  const known = requests.get(faults) ?? new Map<string, Applying>()
  requests.set(faults, known)
  const applying = known.get(requestId) ?? apply(faults, fault, from)
  known.set(requestId, applying)
  if (known.size > requestsMax) known.delete([...known.keys()][0]!)
  return applying
}

function faultOf(fault: unknown): FaultInput | string {
  if (typeof fault === 'string' || (typeof fault === 'object' && fault !== null)) return fault as FaultInput | string
  throw new OptionError("apply needs a fault: a text such as 'crash shard02 for 5s', or a document.")
}

function idOf(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined
  if (typeof id === 'string') return id
  throw new OptionError('heal needs the id of a fault, as list shows it; without an id it heals all faults.')
}

function idToWaitFor(id: unknown): string {
  if (typeof id === 'string') return id
  throw new OptionError('reached needs the id of a fault at a step, as apply returned it.')
}
