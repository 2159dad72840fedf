import { builtinModules } from 'node:module'
import { folderOfName } from '../model/floors.js'
import { packageOfSpecifier } from '../model/imports.js'
import type { Finding, Repository, SourceFile, Workspace } from '../model/repository.js'

export const isBuiltin = (specifier: string): boolean =>
  specifier.startsWith('node:') || builtinModules.includes(specifier)

/** Every package that the files import, with the file and line of the first import. */
function importedPackages(files: readonly SourceFile[]): Map<string, Finding> {
  const found = new Map<string, Finding>()
  for (const file of files) {
    for (const { specifier, line, form } of file.imports) {
      if (specifier.startsWith('.') || form === 'url' || isBuiltin(specifier)) continue
      const name = packageOfSpecifier(specifier)
      if (!found.has(name)) found.set(name, { path: file.path, line, message: '' })
    }
  }
  return found
}

/** package.json and tsconfig.json agree with the imports: nothing undeclared, nothing unused. */
export function findUndeclaredDependencies(repository: Repository): Finding[] {
  return [...repository.packages, repository.test].flatMap((workspace) => [
    ...undeclared(repository, workspace),
    ...unused(repository, workspace),
    ...disagreeingReferences(workspace),
  ])
}

function undeclared(repository: Repository, { sources, tests, manifest, path }: Workspace): Finding[] {
  const shipped = { ...manifest.dependencies, ...manifest.peerDependencies }
  const everything = { ...shipped, ...manifest.devDependencies, ...repository.rootManifest.devDependencies }
  const missing = (
    files: readonly SourceFile[],
    declared: Readonly<Record<string, string>>,
    where: string,
  ): Finding[] =>
    [...importedPackages(files)]
      .filter(([name]) => !(name in declared) && name !== manifest.name)
      .map(([name, place]) => ({ ...place, message: `'${name}' is not among the ${where} of ${path}/package.json` }))
  return [
    ...missing(sources, shipped, 'dependencies'),
    ...missing(tests, everything, 'dependencies or devDependencies'),
  ]
}

function unused(repository: Repository, workspace: Workspace): Finding[] {
  // The test workspace depends on all packages, so that they are built before it.
  if (workspace === repository.test) return []
  const { sources, tests, manifest, path } = workspace
  const inSources = importedPackages(sources)
  const inTests = importedPackages(tests)
  const message = (name: string, field: string): Finding => ({
    path: `${path}/package.json`,
    line: 0,
    message: `${field} lists '${name}', which nothing there imports`,
  })
  return [
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter((name) => !inSources.has(name))
      .map((name) => message(name, 'dependencies')),
    ...Object.keys(manifest.devDependencies ?? {})
      .filter((name) => !inTests.has(name) && !name.startsWith('@types/'))
      .map((name) => message(name, 'devDependencies')),
  ]
}

function disagreeingReferences({ manifest, references, path }: Workspace): Finding[] {
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).flatMap(
    (name) => folderOfName(name) ?? [],
  )
  const finding = (message: string): Finding => ({ path: `${path}/tsconfig.json`, line: 0, message })
  return [
    ...declared
      .filter((name) => !references.includes(name))
      .map((name) => finding(`references lack '${name}', which package.json names`)),
    ...references
      .filter((name) => !declared.includes(name))
      .map((name) => finding(`references name '${name}', which package.json lacks`)),
  ]
}
