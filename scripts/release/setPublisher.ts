/** `npm run release:publisher`: enters who publishes the package, in every file that says so. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { filesFor } from './publisher';

const root = join(__dirname, '..', '..');
const text = { type: 'string' } as const;
const given = z
	.object({
		repository: z.string().regex(/^https:\/\/github\.com\/[\w.-]+\/[\w-]+$/),
		name: z.string().min(1),
		email: z.string().email(),
	})
	.safeParse(parseArgs({ options: { repository: text, name: text, email: text } }).values);

if (given.success) {
	for (const [file, content] of filesFor(root, given.data)) {
		writeFileSync(join(root, file), content);
		console.log(`Changed ${file}`);
	}
} else {
	console.log(
		'Use: npm run release:publisher -- --repository https://github.com/owner/repository --name "Name" --email name@example.com',
	);
	process.exitCode = 1;
}
