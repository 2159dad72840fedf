/** What a run has on the server. */
import { customAlphabet } from 'nanoid'
import { OptionError } from '@shardlab/nats'

/** Letters and digits without look-alikes: people type the names of runs. */
export const newId = customAlphabet('23456789abcdefghjkmnpqrstuvwxyz', 10)

export interface RunNames {
  readonly name: string
  readonly todoStream: string
  readonly dataStream: string
  readonly todo: (key: string) => string
  readonly about: string
  readonly input: (key: string) => string
  readonly result: (key: string) => string
  /** From running jobs. */
  readonly up: (key: string) => string
  /** To running jobs. */
  readonly down: (key: string) => string
  readonly stop: string
  readonly ended: string
  /** Records of coordinators. */
  readonly coordinators: string
  /** Questions to a coordinator by its id, to `any` one; `next`: one has replaced another. */
  readonly coordinator: (id: string) => string
}

export const todoOfAllRuns = 'shardlab.jobs.*.todo.*'
/** There are new jobs. */
export const wakeSubject = 'shardlab.wake'
export const consumerName = 'workers'

const todoPrefix = 'SHARDLAB_TODO_'

export function namesOf(name: string): RunNames {
  const subject = `shardlab.jobs.${name}`
  return {
    name,
    todoStream: `${todoPrefix}${name}`,
    dataStream: `SHARDLAB_DATA_${name}`,
    todo: (key) => `${subject}.todo.${key}`,
    about: `${subject}.data.about`,
    input: (key) => `${subject}.data.input.${key}`,
    result: (key) => `${subject}.data.result.${key}`,
    up: (key) => `${subject}.up.${key}`,
    down: (key) => `${subject}.down.${key}`,
    stop: `${subject}.stop`,
    ended: `${subject}.ended`,
    coordinators: `${subject}.data.coordinator`,
    coordinator: (id) => `${subject}.coordinator.${id}`,
  }
}

export const runOfTodoStream = (stream: string): RunNames => namesOf(stream.slice(todoPrefix.length))

/** The last word of a subject is the key. */
export const keyOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)

/** @throws OptionError */
export function checkName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name
  throw new OptionError(`the name of the job is "${name}": use up to 64 letters, digits, - and _`)
}
