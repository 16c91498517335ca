import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '..', 'files');

/** Files as people have them, and some that aren't CSV. */
export const fileNames = readdirSync(folder).sort();

export const contentOf = (name: string): Buffer => readFileSync(join(folder, name));
