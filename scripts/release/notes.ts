/** `npm run release:notes`: prints the notes of the current version for its release on GitHub. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { notesOf } from './changelog';
import { publisherOf, readManifest } from './publisher';

const root = join(__dirname, '..', '..');
const { version } = readManifest(root);
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const notes = notesOf(changelog, version);
if (notes === undefined) throw new Error(`CHANGELOG.md has no entries for ${version}`);
// GitHub shows the notes outside the repository's folder.
const { repository } = publisherOf(readManifest(root));
console.log(notes.replace(/\]\((?!https?:)/g, `](${repository}/blob/v${version}/`));
