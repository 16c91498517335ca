/**
 * Who publishes the package, and from which repository. `package.json` has it, and each other file repeats it:
 * n8n opens the links of the nodes and of the credential, and GitHub those of the issue template.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export interface Publisher {
	name: string;
	email: string;
	/** The URL of the repository's page, such as https://github.com/owner/repository. */
	repository: string;
}

/** No one can register this domain (RFC 6761). */
export const PLACEHOLDER = 'publisher.invalid';

/** The files with links to the repository. */
const LINKING = [
	...['nodes/*/*.node.json', 'nodes/core/profile/serviceProfile.ts', 'credentials/*.ts'],
	'.github/ISSUE_TEMPLATE/config.yml',
];
/** The repository in front of the path of a file. */
const REPOSITORY = /https:\/\/[^\s"'<>]+?(?=\/blob\/main\/)/g;

const manifestSchema = z
	.object({
		version: z.string(),
		homepage: z.string(),
		bugs: z.object({ url: z.string() }),
		author: z.object({ name: z.string(), email: z.string() }),
		repository: z.object({ type: z.literal('git'), url: z.string() }),
	})
	.passthrough();
export type Manifest = z.infer<typeof manifestSchema>;

export function readManifest(root: string): Manifest {
	return manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
}

export function publisherOf({ author, repository }: Manifest): Publisher {
	return {
		...author,
		repository: repository.url.replace(/^git\+/, '').replace(/\.git$/, ''),
	};
}

export function linkingFiles(root: string): string[] {
	return globSync(LINKING, { cwd: root }).sort();
}

/** The repositories that a text links to. */
export function linkedRepositories(text: string): string[] {
	return text.match(REPOSITORY) ?? [];
}

/** The files that change if another publisher takes the package over: their paths and new texts. */
export function filesFor(root: string, next: Publisher): Map<string, string> {
	const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
	const manifest = readManifest(root);
	const { name, repository } = publisherOf(manifest);
	const files = new Map<string, string>();
	for (const file of linkingFiles(root))
		files.set(file, textOf(file).replaceAll(repository, next.repository));
	files.set(
		'LICENSE',
		textOf('LICENSE').replace(name, () => next.name),
	);
	files.set('package.json', `${JSON.stringify(manifestFor(manifest, next), null, '\t')}\n`);
	return files;
}

function manifestFor(manifest: Manifest, { name, email, repository }: Publisher): Manifest {
	return {
		...manifest,
		homepage: repository,
		bugs: { url: `${repository}/issues` },
		author: { name, email },
		repository: { type: 'git', url: `git+${repository}.git` },
	};
}
