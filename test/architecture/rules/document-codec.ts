import type { Finding, Repository, SourceFile } from '../model/repository.js'
import type { Token } from '../model/tokens.js'

/** Functions between BSON and objects of JavaScript, and the replacements. */
const objectCodec: ReadonlyMap<string, string> = new Map([
  ['decode', 'read fields with findField, fieldsOf or a FieldFinder'],
  ['encode', 'write with a DocumentWriter'],
  ['fromRawValue', 'read the RawValue, a decimal128 with decimalText'],
  ['toRawValue', 'make the value with stringValue, timestampValue, decimalValue and others'],
  ['EJSON', 'print with toExtendedJson'],
])

/** Files that may parse or encode objects, each with the reason. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['packages/mongos/src/admin/explain-balance.ts', "the balancer's report: JSON whose names are written in our source"],
])

/**
 * An object of JavaScript moves names such as `1` to the front, and has one type for int32 and
 * double. So documents of users and of the catalog stay bytes: the floors up to the roles use no
 * codec between BSON and objects, and no file spreads a decoded document into a new one.
 */
export function findDocumentCodecs(repository: Repository): Finding[] {
  const deterministic = new Set(repository.deterministicPackages)
  return repository.packages
    .filter(({ folder }) => folder !== 'bson')
    .flatMap((workspace) =>
      workspace.sources.flatMap((file) => [
        ...spreadsIn(file),
        ...(deterministic.has(workspace) && !allowed.has(file.path) ? codecsIn(file) : []),
      ]),
    )
}

function codecsIn(file: SourceFile): Finding[] {
  const imported = file.imports
    .filter(({ specifier }) => specifier === '@shardlab/bson')
    .flatMap(({ names, line }): Finding[] =>
      names === null
        ? [{ path: file.path, line, message: '@shardlab/bson is imported as a whole: name what is used' }]
        : names
            .filter((name) => objectCodec.has(name))
            .map((name) => ({
              path: file.path,
              line,
              message: `${name} passes a document through an object: ${objectCodec.get(name)!}`,
            })),
    )
  const parsed = positions(file, (tokens, i) => isName(tokens[i], 'JSON') && isName(tokens[i + 2], 'parse')).map(
    (line) => ({ path: file.path, line, message: 'JSON.parse makes an object, which reorders fields: keep the text' }),
  )
  return [...imported, ...parsed]
}

/** `{ ...decode(document), field }`. */
function spreadsIn(file: SourceFile): Finding[] {
  const spreads = (tokens: readonly Token[], i: number): boolean =>
    isMark(tokens[i], '...') &&
    (isName(tokens[i + 1], 'decode') ||
      (isMark(tokens[i + 1], '(') && isName(tokens[i + 2], 'decode')) ||
      isName(tokens[i + 3], 'deserialize'))
  return positions(file, spreads).map((line) => ({
    path: file.path,
    line,
    message: 'a decoded document is spread into another one, which reorders its fields: change the bytes',
  }))
}

function positions(file: SourceFile, fits: (tokens: readonly Token[], i: number) => boolean): number[] {
  return file.tokens.flatMap((token, i) => (fits(file.tokens, i) ? [token.line] : []))
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind === 'punctuation' && token.text === text
const isName = (token: Token | undefined, text: string): boolean => token?.kind === 'name' && token.text === text
