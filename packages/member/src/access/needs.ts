/** Entries of rows. */
import type { AccessQuestion, NeededPrivilege } from '@shardlab/actor'
import { clusterResource, controlAction, databaseResource } from '@shardlab/auth'
import { BsonType, fieldsOf, findField, type RawValue } from '@shardlab/bson'
import { holds, namespaceResource } from './authorize.js'

export const onCluster = (...actions: readonly string[]): readonly NeededPrivilege[] => [{ on: 'cluster', actions }]
export const onDatabase = (...actions: readonly string[]): readonly NeededPrivilege[] => [{ on: 'database', actions }]
export const onNamespace = (...actions: readonly string[]): readonly NeededPrivilege[] => [{ on: 'namespace', actions }]
export const onNamedDatabase = (...actions: readonly string[]): readonly NeededPrivilege[] => [
  { on: 'named database', actions },
]
export const onNamedNamespace = (...actions: readonly string[]): readonly NeededPrivilege[] => [
  { on: 'named namespace', actions },
]

/**
 * Of fail points and of commands that no server has. Built-in roles do not grant the action, so
 * that descriptions of roles are the server's; root may do everything.
 */
export function controlEmulation(question: AccessQuestion): boolean {
  return question.access.hasRole({ role: 'root', db: 'admin' }) || holdsOnCluster(question, controlAction)
}

export const holdsOnCluster = (question: AccessQuestion, ...actions: readonly string[]): boolean =>
  holds(question, clusterResource, actions)
export const holdsOnDatabase = (question: AccessQuestion, db: string, ...actions: readonly string[]): boolean =>
  holds(question, databaseResource(db), actions)
/** @param ns `db.collection`; without a collection it is a database */
export const holdsOn = (question: AccessQuestion, ns: string, ...actions: readonly string[]): boolean =>
  holds(question, namespaceResource(ns), actions)

/** The collection that the command names, or its database. */
export function namedBy({ args, db }: AccessQuestion): string {
  return args.namedCollection(db) ?? db
}

/** The value of the command's own field; empty: it is not a string, so that the command fails. */
export function nameIn({ args }: AccessQuestion): string {
  return args.target.type === BsonType.string ? args.target.asString() : ''
}

/**
 * Whether a field of a document is true, before its type is checked. Of several with the name any
 * one counts: some parts of a command read the first one, others the last.
 */
export function isTrueIn(document: Uint8Array, field: string): boolean {
  return findField(document, field) !== undefined && valuesOf(document, field).some((value) => value.isTruthy())
}

/** All of them. */
export function valuesOf(document: Uint8Array, field: string): RawValue[] {
  return fieldsOf(document).flatMap(([name, value]) => (name === field ? [value] : []))
}

export function textIn(document: Uint8Array, field: string): string | undefined {
  const value = findField(document, field)
  return value?.type === BsonType.string ? value.asString() : undefined
}
