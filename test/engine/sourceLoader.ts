import path from 'node:path';
import lowerFirst from 'lodash/lowerFirst';
import { PackageDirectoryLoader } from 'n8n-core';

export const ROOT = path.resolve(__dirname, '../..');

/** n8n's own package loader, which reads the TypeScript sources instead of `dist`. */
class SourceLoader extends PackageDirectoryLoader {
	constructor() {
		super(ROOT);
		// So that `getNode` loads a node when it's needed, because most test files need only one.
		const { nodes = [], credentials = [] } = this.packageJson.n8n ?? {};
		const found = (sourcePath: string) => {
			const className = path.basename(sourcePath).replace(/\..*/, '');
			return [lowerFirst(className), { className, sourcePath }] as const;
		};
		this.known.nodes = Object.fromEntries(nodes.map(found));
		this.known.credentials = Object.fromEntries(credentials.map(found));
	}

	/** For `types`, which has the descriptions of the nodes that were loaded. */
	loadEveryNode(): void {
		for (const name of Object.keys(this.known.nodes)) this.getNode(name);
	}

	protected override resolvePath(file: string): string {
		const source = path.resolve(this.directory, file);
		const dist = path.join(this.directory, 'dist') + path.sep;
		return source.replace(dist, this.directory + path.sep).replace(/\.js$/, '.ts');
	}
}

export const loader = new SourceLoader();
