import type { Violation } from './types.js'

/** Whether two runs fail in the same way: the same checker, collection and form of sentence. */
export function isSameViolation(a: Violation, b: Violation): boolean {
  return a.checker === b.checker && a.ns === b.ns && formOf(a.sentence) === formOf(b.sentence)
}

/** The sentence without documents, quoted values and numbers, which differ between runs. */
export function formOf(sentence: string): string {
  return sentence
    .replaceAll(/\{.*\}|\[.*\]/gs, '{}')
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\b(?=[a-f]*\d)[0-9a-f]{8,}\b|\d+/g, '0')
    .replaceAll(/\b(shard0|config)-0\b/g, '$1')
    .replaceAll(/\b(shard|mongos)0\b/g, '$1')
    .replaceAll(/\b(\w+)(?:(?:, ?| or | to )\1\b)+/g, '$1')
}
