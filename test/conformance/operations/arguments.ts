import { ClientSession, type Document } from 'mongodb'
import { concerns, type Entities } from '../entities.js'

/** The context of an operation. */
export interface OperationContext {
  readonly entities: Entities
}

/** A method of an entity: its target, the test's arguments, and the context. */
export type Method<T> = (target: T, args: Document, context: OperationContext) => unknown

/**
 * Driver options: the arguments except those named, with session, concerns and read preference
 * resolved.
 */
export function optionsOf(args: Document, { entities }: OperationContext, ...without: string[]): Document {
  const { session, ...rest } = Object.fromEntries(Object.entries(args).filter(([name]) => !without.includes(name)))
  return { ...concerns(rest), ...(session === undefined ? {} : { session: entities.get(session, ClientSession) }) }
}

/** `before` and `after` as the driver spells them. */
export function returnDocumentOf(value: unknown): Document {
  return typeof value === 'string' ? { returnDocument: value.toLowerCase() } : {}
}
