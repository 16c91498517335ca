/** Counts the fields and words of each form. Nobody reads long ones. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import uniq from 'lodash/uniq';
import { NodeHelpers, type INodeProperties } from 'n8n-workflow';
import { loader, nodeTypes, PACKAGE, setupAllNodes } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { keysOf, nameOf, type SchemaKey } from '../schema/schemas';
import { allParameters, choicesOf, parametersIn } from './descriptions';

const MAX_FIELDS = 9;
/** What is longer belongs to the docs. */
const MAX_WORDS = 25;
const MAX_WORDS_OF_NOTICE = 20;

beforeAll(setupAllNodes);

const wordsIn = (text: string) => text.replace(/<[^>]*>/g, '').match(/\S+/g)?.length ?? 0;

/** The texts of a field and of its choices, and how many words each may have. */
function textsOf(property: INodeProperties): [text: string, max: number][] {
	const { type, displayName, description = '', hint = '' } = property;
	if (type === 'notice' || type === 'callout') return [[displayName, MAX_WORDS_OF_NOTICE]];
	const choices = choicesOf(property).map((choice) => choice.description ?? '');
	return [description, hint, ...choices].map((text) => [text, MAX_WORDS]);
}

test('a description, hint, or choice has at most 25 words, and a notice 20', () => {
	const tooLong = allParameters().flatMap(({ place, property }) =>
		textsOf(property)
			.filter(([text, max]) => wordsIn(text) > max)
			.map(([text]) => `${place} (${wordsIn(text)}): ${text}`),
	);
	expect(uniq(tooLong)).toEqual([]);
	const nodes = loader.types.nodes.filter(({ description }) => wordsIn(description) > MAX_WORDS);
	expect(nodes.map(({ displayName }) => displayName)).toEqual([]);
});

/** The form of an operation as it opens, without notices: its fields, those in 'Options', and its longest text. */
function sizeOf({ node, resource, operation }: SchemaKey) {
	const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${node}`);
	const { version } = description;
	// n8n adds 'Poll Times'.
	const properties = description.properties.filter((field) => field.name !== 'pollTimes');
	const of = { typeVersion: [version].flat().at(-1) ?? 1 };
	const chosen = { ...(resource && { resource }), ...(operation && { operation }) };
	const parameters =
		NodeHelpers.getNodeParameters(properties, chosen, true, false, of, description) ?? {};
	const shownIn = (fields: INodeProperties[]) =>
		fields.filter((field) => NodeHelpers.displayParameter(parameters, field, of, description));
	const shown = shownIn(properties);
	const options = shown.find((field) => field.name === 'options');
	// The choice of a resource and of its operation count as one.
	const isCounted = ({ type, name: field }: INodeProperties) =>
		!['notice', 'hidden', 'collection'].includes(type) && field !== 'resource';
	const members = (options?.options ?? []).filter((member) => 'type' in member);
	const texts = parametersIn(shown, '').flatMap(({ property }) => textsOf(property));
	return {
		name: nameOf({ node, operation }),
		fields: shown.filter(isCounted).length,
		options: shownIn(members).length,
		words: Math.max(...texts.map(([text]) => wordsIn(text))),
	};
}

test('each operation shows at most nine fields, and the page for reviewers has the numbers', () => {
	const sizes = keysOf(loader.types.nodes)
		.filter(({ node }) => !node.endsWith('Tool'))
		.map(sizeOf);
	expect(sizes.filter(({ fields }) => fields > MAX_FIELDS)).toEqual([]);
	const page = readFileSync(path.join(ROOT, 'docs/for-reviewers.md'), 'utf8');
	const [, section = ''] = page.split('## The size of each form');
	const rows = section.split('\n').filter((line) => /^\| .*\d/.test(line));
	const cells = rows.map((row) =>
		row
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
	expect(cells).toEqual(
		sizes.map(({ name, fields, options, words }) => [
			name,
			...[fields, options, words].map(String),
		]),
	);
});
