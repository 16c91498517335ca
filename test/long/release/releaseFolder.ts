/** A copy of the repository, as a publisher has it: with their name, a changelog, and a tag on main. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../../n8n/command';
import { packPackage, projectFolder } from '../../n8n/package-install';

const REPOSITORY = 'owner/repository';
const PUBLISHER = [
	...['--repository', `https://github.com/${REPOSITORY}`],
	...['--name', 'A Publisher', '--email', 'publisher@acme.io'],
];

export class ReleaseFolder {
	readonly repository = `https://github.com/${REPOSITORY}`;

	private constructor(readonly path: string) {}

	static create(path: string): ReleaseFolder {
		const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
		const files = execFileSync('git', listed, { cwd: projectFolder, encoding: 'utf8' });
		for (const file of files.trim().split('\n')) {
			// A file that was deleted, but not yet committed, is still listed.
			if (!existsSync(join(projectFolder, file))) continue;
			mkdirSync(dirname(join(path, file)), { recursive: true });
			cpSync(join(projectFolder, file), join(path, file));
		}
		symlinkSync(join(projectFolder, 'node_modules'), join(path, 'node_modules'));
		const folder = new ReleaseFolder(path);
		folder.git('init', '--quiet', '--initial-branch', 'main');
		folder.git('config', 'user.name', 'A Publisher');
		folder.git('config', 'user.email', 'publisher@acme.io');
		return folder;
	}

	/** What docs/releasing.md says to do once, and for the first release. */
	enterPublisher(): void {
		this.npm('run', '--silent', 'release:publisher', '--', ...PUBLISHER);
		const readme = join(this.path, 'README.md');
		const lines = readFileSync(readme, 'utf8').split('\n');
		writeFileSync(readme, lines.filter((line) => !line.includes("isn't on npm yet")).join('\n'));
	}

	/** Commits and tags a version on main, as docs/releasing.md says. */
	tag(version: string): void {
		this.npm('version', '--no-git-tag-version', '--allow-same-version', version);
		const changelog = join(this.path, 'CHANGELOG.md');
		const heading = '## [Unreleased]\n';
		const dated = `${heading}\n## [${version}] - 2026-12-01\n\n- Entries of ${version}\n`;
		writeFileSync(changelog, readFileSync(changelog, 'utf8').replace(heading, dated));
		this.git('add', '--all');
		this.git('commit', '--quiet', '--message', version);
		this.git('tag', `v${version}`);
		this.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
	}

	/** What the check prints. Throws if it finds something. */
	check(tag: string): string {
		return this.npm('run', '--silent', 'release:check', '--', tag);
	}

	notes(): string {
		return this.npm('run', '--silent', 'release:notes');
	}

	async pack(folder: string): Promise<string> {
		this.npm('run', '--silent', 'build');
		mkdirSync(folder, { recursive: true });
		return await packPackage(this.path, folder);
	}

	/** Publishes a packed tarball with the command of the workflow, without what only GitHub can do. */
	async publish(tarball: string, env: Record<string, string>): Promise<void> {
		const workflow = readFileSync(join(this.path, '.github/workflows/publish.yml'), 'utf8');
		const command = /run: (npm publish .*)/.exec(workflow)?.[1] ?? '';
		if (!command.includes(' --provenance '))
			throw new Error('publish.yml publishes without provenance');
		const args = ['-euo', 'pipefail', '-c', command.replace(' --provenance ', ' ')];
		const cwd = dirname(tarball);
		await run('bash', args, { cwd, log: join(cwd, 'log'), env: { ...env, DIST_TAG: 'latest' } });
	}

	private npm(...args: string[]): string {
		const env = { ...process.env, GITHUB_REPOSITORY: REPOSITORY };
		return execFileSync('npm', args, { cwd: this.path, env, encoding: 'utf8' });
	}

	private git(...args: string[]): void {
		execFileSync('git', args, { cwd: this.path });
	}
}
