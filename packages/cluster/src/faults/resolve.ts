import { balancerAddress, namedSteps, type Address } from '@shardlab/actor'
import { suggestion } from '@shardlab/quantities'
import { clientsAddress, type LinkEnd, type MemberInfo } from '@shardlab/runtime'
import { addresses, findMember, memberNamed } from '../member-names.js'
import { OptionError } from '../option-error.js'
import type { FaultSpec } from './fault-data.js'
import type { FaultVerb, LinkVerb, MemberVerb } from './fault-verb.js'
import type { FaultLink } from './fault-world.js'
import { phraseOf } from './grammar.js'
import { verbNamed } from './verb-table.js'

export interface ResolvedFault {
  readonly spec: FaultSpec
  readonly verb: FaultVerb
  /** null: the fault is not on a single member. */
  readonly target: Address | null
  /** null: the fault is not on links. */
  readonly link: FaultLink | null
}

/** @throws OptionError */
export function resolveFault(spec: FaultSpec, members: readonly MemberInfo[]): ResolvedFault {
  const verb = verbNamed(spec.verb)!
  const target = 'target' in spec && spec.target !== undefined ? memberNamed(spec.target, members) : null
  if (verb.on === 'member') checkRole(verb, target!)
  if ('step' in spec) checkStep(spec, target)
  const named = target === null ? spec : ({ ...spec, target: target.address } as FaultSpec)
  if (!('link' in spec) || verb.on !== 'link') return { spec: named, verb, target: target?.address ?? null, link: null }
  const link = { from: endNamed(spec.link.from, members), to: endNamed(spec.link.to, members) }
  checkLink(verb, link)
  const ends = { from: nameOf(link.from), to: nameOf(link.to) }
  return { spec: { ...spec, link: { ...spec.link, ...ends } } as FaultSpec, verb, target: null, link }
}

/** @throws OptionError if the member is not in the state that the verb needs */
export function checkState({ verb, target }: ResolvedFault, members: readonly MemberInfo[], isPaused: boolean): void {
  if (verb.on !== 'member') return
  const { title } = phraseOf(verb.verb)
  const state = members.find(({ address }) => address === target)?.state
  if (verb.needs === 'running' && state !== 'running' && state !== 'starting')
    throw new OptionError(
      `${title}: ${target} is not running (it has ${state === 'stopped' ? 'been stopped' : 'crashed'}). Restart it first.`,
    )
  if (verb.needs === 'paused' && !isPaused) throw new OptionError(`${title}: ${target} is not paused.`)
}

/** @throws OptionError if the verb can strike no message on this link */
function checkLink(verb: LinkVerb, { from, to }: FaultLink): void {
  if (isOne(from) && isOne(to) && from[0] === to[0])
    throw new OptionError(
      isClients(from)
        ? 'clients have no links to each other; name a member.'
        : `${from[0]} has no link to itself; name two members.`,
    )
  const refusal = verb.refusalOf?.({ fromClients: isClients(from), toClients: isClients(to) }) ?? null
  if (refusal !== null) throw new OptionError(`${phraseOf(verb.verb).title}: ${refusal}.`)
  if (!isClients(from) && !isClients(to)) return
  const other = isClients(from) ? to : from
  if (isOne(other) && other[0] === balancerAddress)
    throw new OptionError('clients have no link to the balancer; name another member.')
}

function isClients(end: LinkEnd): boolean {
  return isOne(end) && end[0] === clientsAddress
}

function nameOf(end: LinkEnd): string {
  return typeof end === 'string' ? end : end[0]!
}

function endNamed(name: string, members: readonly MemberInfo[]): LinkEnd {
  switch (name) {
    case 'everybody':
    case 'members':
    case 'shards':
    case 'routers':
      return name
    case 'clients':
      return [clientsAddress]
    default: {
      const member = findMember(name, members)
      if (member !== undefined) return [member.address]
      throw new OptionError(
        `there is no link to ${name}; links end at ${addresses(members).join(', ')}, clients, shards, routers, members and everybody.`,
      )
    }
  }
}

function isOne(end: LinkEnd): end is readonly [Address] {
  return typeof end !== 'string' && end.length === 1
}

function checkRole({ verb, roles }: MemberVerb, { address, role }: MemberInfo): void {
  if (roles === undefined || roles.includes(role)) return
  // A set without sharding has no other members.
  const known = roles.filter((each) => each !== 'mongod')
  throw new OptionError(`${phraseOf(verb).title}: ${address} is ${a(role)}; name ${known.map(a).join(' or ')}.`)
}

function checkStep({ verb, step }: { readonly verb: string; readonly step: string }, target: MemberInfo | null): void {
  if (!(namedSteps as readonly string[]).includes(step)) {
    const protocol = step.slice(0, step.lastIndexOf('.') + 1)
    const alike = namedSteps.filter((name) => protocol !== '' && name.startsWith(protocol))
    const hint =
      alike.length > 0
        ? `this protocol has ${alike.join(', ')}`
        : `the protocols are ${[...new Set(namedSteps.map(protocolOf))].join(', ')}`
    throw new OptionError(`unknown step: ${step}; ${suggestion(step, namedSteps) ?? `${hint}.`}`)
  }
  const role = step.startsWith('config.') ? 'config-server' : step.slice(0, step.indexOf('.'))
  if (target !== null && target.role !== role)
    throw new OptionError(
      `${phraseOf(verb).title}: ${target.address} is ${a(target.role)}, which does not reach ${step}; name ${a(role)}.`,
    )
}

function a(role: string): string {
  return role === 'config-server' ? 'the config server' : `a ${role}`
}

function protocolOf(step: string): string {
  return step.slice(0, step.lastIndexOf('.'))
}
