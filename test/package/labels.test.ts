/** Messages name fields as on the screen. */
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, setupEngine } from '../engine';
import { choicesOf, parametersIn } from './descriptions';
import { texts } from './texts';

beforeAll(setupEngine);

/** Labels, choices, modes, and groups of all forms. */
function namesOnScreen(): Set<string> {
	const forms = [
		...loader.types.nodes.map(({ properties }) => properties),
		loader.getCredential(CREDENTIAL).type.properties,
	];
	const parameters = forms.flatMap((form) => parametersIn(form, ''));
	return new Set([
		...parameters.flatMap(({ property }) => [
			property.displayName,
			...choicesOf(property).map(({ name }) => name),
			...(property.modes ?? []).map(({ displayName }) => displayName),
			...(property.options ?? []).flatMap((option) =>
				'values' in option ? [option.displayName] : [],
			),
		]),
	]);
}

/** Names that aren't in these forms, with reasons. */
const ELSEWHERE = new Map([
	['Rejected', 'an output of Push Campaign Contacts'],
	['Always Output Data', 'a setting that n8n adds to each node'],
	['Execute Once', 'a setting that n8n adds to each node'],
	['Fields To Split Out', "a field of n8n's Split Out node"],
]);

/** Text in straight single quotes that begins like a label. */
const QUOTED = /(?<![\w'])'([A-Z][^'\n]*?)'(?!\w)/g;

function quotedNames(): Array<{ place: string; name: string }> {
	return texts.flatMap(({ place, text }) =>
		[...text.replaceAll(String.raw`\'`, "'").matchAll(QUOTED)].map(([, name = '']) => ({
			place,
			name,
		})),
	);
}

test('checks more than 250 names', () => {
	expect(quotedNames().length).toBeGreaterThan(250);
});

test('each name in single quotes is on the screen', () => {
	const names = namesOnScreen();
	const others = quotedNames().filter(({ name }) => !names.has(name));
	expect(others.filter(({ name }) => !ELSEWHERE.has(name))).toEqual([]);
	expect([...ELSEWHERE.keys()].filter((name) => !others.some((one) => one.name === name))).toEqual(
		[],
	);
});
