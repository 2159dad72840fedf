/** Writes the generated pages of docs/reference: `npm run generate`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findRoot, readRepository } from './model/repository.js'
import { generatePages } from './pages.js'

const root = findRoot()
for (const { path, text } of await generatePages(readRepository(root), root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(path)
}
