import { decode, encode, toExtendedJson } from '@shardlab/bson'
import type { ReplicationRules } from '@shardlab/replication'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'

/** The versions whose replica sets are emulated. */
export const versions = ['4.0', '4.4', '5.0', '6.0', '7.0', '8.0'] as const satisfies readonly EmulatedVersion[]

export const rulesOf = (version: EmulatedVersion): ReplicationRules => behavioursOf(version)

export const bytes = (document: Record<string, unknown>): Uint8Array => encode(document)

export const read = (document: Uint8Array): Record<string, any> => decode(document, { promoteLongs: true })

/** With the order of fields and the types of numbers. */
export const canonical = (document: Uint8Array): string => toExtendedJson(document)
