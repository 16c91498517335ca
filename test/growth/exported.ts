import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const project = join(__dirname, '..', '..');

/** The sources of the package. */
export const sources: string[] = ['nodes', 'credentials']
	.flatMap((folder) =>
		readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
			join(project, folder, name),
		),
	)
	.filter((file) => file.endsWith('.ts'))
	.sort();

export function parseSource(file: string): ts.SourceFile {
	return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The path in `nodes`, such as `shared/json.ts`. */
export const shortName = (file: string): string => relative(join(project, 'nodes'), file);

/** A function or class, with the types of its public parameters. */
export type Exported = { file: string; name: string; isClass: boolean; types: string[] };

export function exportedFrom(file: string): Exported[] {
	return parseSource(file).statements.flatMap((statement): Exported[] => {
		if (!isExported(statement)) return [];
		if (ts.isFunctionDeclaration(statement)) {
			return [one(file, statement.name, false, typesOf(statement.parameters))];
		}
		if (ts.isClassDeclaration(statement)) {
			const types = statement.members
				.filter(isPublic)
				.flatMap((member) =>
					ts.isConstructorDeclaration(member) || ts.isMethodDeclaration(member)
						? typesOf(member.parameters)
						: [],
				);
			return [one(file, statement.name, true, types)];
		}
		if (!ts.isVariableStatement(statement)) return [];
		return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
			initializer !== undefined && ts.isArrowFunction(initializer)
				? [one(file, name, false, typesOf(initializer.parameters))]
				: [],
		);
	});
}

function one(file: string, name: ts.Node | undefined, isClass: boolean, types: string[]): Exported {
	return { file, name: name?.getText() ?? '', isClass, types };
}

function isExported(statement: ts.Statement): boolean {
	if (!ts.canHaveModifiers(statement)) return false;
	return (ts.getModifiers(statement) ?? []).some(
		({ kind }) => kind === ts.SyntaxKind.ExportKeyword,
	);
}

function isPublic(member: ts.ClassElement): boolean {
	if (!ts.canHaveModifiers(member)) return true;
	const modifiers = ts.getModifiers(member) ?? [];
	return !modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

function typesOf(parameters: ts.NodeArray<ts.ParameterDeclaration>): string[] {
	return parameters
		.filter(({ name }) => name.getText() !== 'this')
		.map(({ type, dotDotDotToken, initializer }) => {
			const written = type?.getText().replace(/\s+/g, ' ') ?? typeOf(initializer);
			return dotDotDotToken === undefined ? written : `...${written}`;
		});
}

/** The type of a parameter with a default value. */
function typeOf(initializer: ts.Expression | undefined): string {
	if (initializer === undefined) return '';
	if (ts.isStringLiteral(initializer)) return 'string';
	return ts.isNumericLiteral(initializer) ? 'number' : initializer.getText();
}
