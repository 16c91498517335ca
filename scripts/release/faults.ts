import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { notesOf } from './changelog';
import {
	linkedRepositories,
	linkingFiles,
	PLACEHOLDER,
	publisherOf,
	readManifest,
	type Manifest,
} from './publisher';

export interface ReleaseCircumstances {
	/** The tag that is published, such as v1.2.0. Undefined before the tag exists. */
	tag?: string;
	/** The repository on GitHub that publishes, such as owner/repository. Undefined on other machines. */
	publishingRepository?: string;
}

/** What must change before the package may be published. */
export function releaseFaults(root: string, release: ReleaseCircumstances = {}): string[] {
	const manifest = readManifest(root);
	return [
		...placeholderFaults(root),
		...publisherFaults(root, manifest, release),
		...versionFaults(root, manifest, release),
		...readmeFaults(root),
	];
}

/** npm and n8n's reviewers show this page. Before the first release, it says that the package can't be installed. */
function readmeFaults(root: string): string[] {
	return textOf(root, 'README.md').includes(NOT_RELEASED)
		? [`README.md says that the package ${NOT_RELEASED}`]
		: [];
}

const NOT_RELEASED = "isn't on npm yet";

/** Every line with a placeholder in the files that a publisher changes. */
function placeholderFaults(root: string): string[] {
	return ['package.json', ...linkingFiles(root)].flatMap((file) =>
		textOf(root, file)
			.split('\n')
			.flatMap((line, index) =>
				line.includes(PLACEHOLDER) ? [`${file}:${index + 1} has a placeholder`] : [],
			),
	);
}

function publisherFaults(
	root: string,
	manifest: Manifest,
	{ publishingRepository }: ReleaseCircumstances,
): string[] {
	const { repository, email } = publisherOf(manifest);
	const faults: string[] = [];
	const require = (holds: boolean, fault: string) => {
		if (!holds) faults.push(fault);
	};
	require(repository.startsWith(
		'https://github.com/',
	), `package.json: the repository must be on github.com, because npm creates provenance there (got "${repository}")`);
	require(!/[@.](example|invalid|localhost|test|example\.(com|net|org))$/.test(
		email,
	), `package.json: nobody receives mail for the author (got "${email}")`);
	require(manifest.homepage.startsWith(
		repository,
	), "package.json: homepage isn't in the repository");
	require(manifest.bugs.url.startsWith(
		repository,
	), "package.json: bugs.url isn't in the repository");
	if (publishingRepository !== undefined)
		require(repository ===
			`https://github.com/${publishingRepository}`, `package.json: the repository isn't ${publishingRepository}, which publishes`);
	for (const file of linkingFiles(root))
		for (const linked of linkedRepositories(textOf(root, file)))
			require(linked === repository, `${file} links to another repository: ${linked}`);
	return faults;
}

function versionFaults(
	root: string,
	{ version }: Manifest,
	{ tag }: ReleaseCircumstances,
): string[] {
	const faults: string[] = [];
	if (notesOf(textOf(root, 'CHANGELOG.md'), version) === undefined)
		faults.push(`CHANGELOG.md has no dated entries for ${version}`);
	if (tag === undefined) return faults;
	if (tag !== `v${version}`)
		faults.push(`The tag ${tag} isn't v${version}, the version in package.json`);
	if (!isOnMain(root)) faults.push(`The tag ${tag} isn't on main`);
	return faults;
}

function isOnMain(root: string): boolean {
	try {
		const check = ['merge-base', '--is-ancestor', 'HEAD', 'origin/main'];
		execFileSync('git', check, { cwd: root, stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}

function textOf(root: string, file: string): string {
	return readFileSync(join(root, file), 'utf8');
}
