import type { Finding, Repository, SourceFile } from '../model/repository.js'
import type { Token } from '../model/tokens.js'
import { isBuiltin } from './declared-dependencies.js'

/** Global functions and objects that a deterministic floor may not use, and the replacements. */
const bannedGlobals: Readonly<Record<string, string>> = {
  setTimeout: 'use ctx.setTimer(name, delayMs) or await ctx.sleep(durationMs)',
  setInterval: 'use ctx.setTimer(name, delayMs) and arm it again in wake()',
  setImmediate: 'send a message or use ctx.setTimer(name, 0): the runtime decides what runs next',
  queueMicrotask: 'call the function, or await the promise it waits for',
  process: 'pass the value as an option: a role has no access to its process',
  console: 'use ctx.log(level, message, fields)',
  performance: 'use ctx.now(); the runtime does all measuring',
  crypto: 'use ctx.random, or the ids of @shardlab/actor',
  fetch: 'use ctx.request(to, kind, request)',
  AbortController: 'use a Cancellation of @shardlab/actor, which takes any number of listeners',
  Worker: 'threads belong to the runtime',
  MessageChannel: 'use ctx.request or ctx.send',
  BroadcastChannel: 'use ctx.request or ctx.send',
}

const clock = 'use ctx.now(), or the nowMs of the EvaluationContext'

/** Banned members of globals that are otherwise allowed. */
const bannedMembers: Readonly<Record<string, string>> = {
  'Date.now': clock,
  'Math.random': 'use ctx.random, or the random of the EvaluationContext',
  'AbortSignal.timeout': 'use the timeoutMs of ctx.request, or ctx.sleep',
  'Atomics.wait': 'a role never blocks: await ctx.request or ctx.sleep',
  'Atomics.waitAsync': 'await ctx.request or ctx.sleep',
}

/** Constructors that read the clock or draw randomness when they get no argument. */
const bannedWithoutArguments: Readonly<Record<string, string>> = {
  Date: clock,
  ObjectId: 'use createObjectIdFactory(ctx.random) of @shardlab/actor',
  UUID: 'use uuidV4(ctx.random) of @shardlab/actor',
}

const isMark = (token: Token | undefined, ...marks: string[]): boolean =>
  token?.kind === 'punctuation' && marks.includes(token.text)
const isWord = (token: Token | undefined, text: string): boolean => token?.kind === 'name' && token.text === text

/**
 * The floors up to the roles use no clock, timer, generator or input and output of their own (law
 * 2).
 */
export function findBannedNames(repository: Repository): Finding[] {
  return repository.deterministicPackages.flatMap((workspace) => workspace.sources.flatMap(findingsOf))
}

function findingsOf(file: SourceFile): Finding[] {
  const findings: Finding[] = []
  const object = (line: number, name: string, instead: string): void => {
    findings.push({ path: file.path, line, message: `${name} is banned in the deterministic floors: ${instead}` })
  }
  for (const { specifier, line } of file.imports) {
    if (isBuiltin(specifier)) object(line, `'${specifier}'`, 'no Node.js module below the runtime')
  }
  const tokens = file.tokens
  tokens.forEach((token, i) => {
    if (token.kind !== 'name' || isMemberName(tokens, i)) return
    const next = tokens[i + 1]
    const constructed = isWord(tokens[i - 1], 'new')
    const name = token.text
    if (Object.hasOwn(bannedGlobals, name) && isReference(tokens, i)) object(token.line, name, bannedGlobals[name]!)
    const member = isMark(next, '.', '?.') && tokens[i + 2]?.kind === 'name' ? `${name}.${tokens[i + 2]!.text}` : ''
    if (Object.hasOwn(bannedMembers, member)) object(token.line, member, bannedMembers[member]!)
    if (
      constructed &&
      Object.hasOwn(bannedWithoutArguments, name) &&
      !(isMark(next, '(') && !isMark(tokens[i + 2], ')'))
    ) {
      object(token.line, `new ${name}() without argument`, bannedWithoutArguments[name]!)
    }
    if (name === 'Date' && !constructed && isMark(next, '(')) object(token.line, 'Date()', clock)
    if (name === 'Math' && !isMark(next, '.'))
      object(token.line, 'Math as a value', 'name its function, so that this test can see which one')
  })
  return findings
}

/** `x.setTimeout`, but not `globalThis.setTimeout`. */
function isMemberName(tokens: readonly Token[], i: number): boolean {
  return isMark(tokens[i - 1], '.', '?.') && !isWord(tokens[i - 2], 'globalThis')
}

/**
 * Whether the name is used as a variable, not as a property key, an argument name of a type, or a
 * declared method.
 */
function isReference(tokens: readonly Token[], i: number): boolean {
  const next = tokens[i + 1]
  const previous = tokens[i - 1]
  if (isMark(next, ':') && isMark(previous, '{', ',', '(', ';')) return false
  if (isMark(next, '?') && isMark(tokens[i + 2], ':', ')')) return false
  if (isWord(previous, 'readonly') || isWord(previous, 'get') || isWord(previous, 'function')) return false
  return !isMethodDeclaration(tokens, i)
}

/** `fetch(name: string): Promise<T>` in an interface, `async fetch() {` in a class. */
function isMethodDeclaration(tokens: readonly Token[], i: number): boolean {
  const previous = tokens[i - 1]
  const opensMember =
    previous === undefined ||
    previous.line < tokens[i]!.line ||
    isMark(previous, '{', ';', ',') ||
    isWord(previous, 'async')
  if (!opensMember || !isMark(tokens[i + 1], '(')) return false
  let close = i + 1
  for (let depth = 0; close < tokens.length; close++) {
    if (isMark(tokens[close], '(')) depth++
    else if (isMark(tokens[close], ')') && --depth === 0) break
  }
  return isMark(tokens[close + 1], ':', '{')
}
