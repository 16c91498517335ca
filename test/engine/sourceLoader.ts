import path from 'node:path';
import { PackageDirectoryLoader } from 'n8n-core';

export const ROOT = path.resolve(__dirname, '../..');

/** n8n's own package loader, which reads the TypeScript sources instead of `dist`. */
class SourceLoader extends PackageDirectoryLoader {
	protected override resolvePath(file: string): string {
		const source = path.resolve(this.directory, file);
		const dist = path.join(this.directory, 'dist') + path.sep;
		return source.replace(dist, this.directory + path.sep).replace(/\.js$/, '.ts');
	}
}

export const loader = new SourceLoader(ROOT);
