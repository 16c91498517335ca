import { setupAllNodes } from '../engine';
import { allParameters, choicesOf } from './descriptions';
import { isObject, type JsonObject } from '../simulator/json';
import { SOURCES, syntaxOf, textOf } from './texts';

beforeAll(setupAllNodes);

/** Labels, choices, modes, and groups of all forms. */
function namesOnScreen(): Set<string> {
	const parameters = allParameters();
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
	['Always Output Data', 'a setting that n8n adds to each node'],
	['Skipped', 'an output of Push Campaign Contacts'],
	['On Error', 'a setting that n8n adds to each node'],
	['Continue', "a value of 'On Error'"],
	['Settings', "the tab of n8n's settings of a node"],
	['Execute Once', 'a setting that n8n adds to each node'],
	['Execute previous nodes', "a button of n8n's panel of a node"],
	['Execute step', "a button of n8n's panel of a node"],
	['Proxy', "an option of n8n's HTTP Request node"],
	['Ignore SSL Issues', "an option of n8n's HTTP Request node"],
	['Retry with currently saved workflow', "in n8n's list of executions"],
]);

/** Text in straight single quotes that begins like a label. */
const QUOTED = /(?<![\w'])'([A-Z][^'\n]*?)'(?!\w)/g;

/** Those in a text with several words, because a person may read it. */
function quotedNames(): Array<{ file: string; name: string }> {
	return SOURCES.flatMap((file) =>
		syntaxOf(file).flatMap((part) => {
			const text = textOf(part) ?? '';
			if (!/\s/.test(text.trim())) return [];
			return [...text.matchAll(QUOTED)].map(([, name = '']) => ({ file, name }));
		}),
	);
}

test('each name in single quotes is on the screen', () => {
	const names = namesOnScreen();
	const quoted = quotedNames();
	expect(quoted.length).toBeGreaterThan(150);
	const others = quoted.filter(({ name }) => !names.has(name));
	expect(others.filter(({ name }) => !ELSEWHERE.has(name))).toEqual([]);
	expect([...ELSEWHERE.keys()].filter((name) => !others.some((one) => one.name === name))).toEqual(
		[],
	);
});

/** The credential, its profile, publishing, and the settings of a node. A template has "…" in place of its values. */
const OF_THE_OWNER =
	/\bcredential\b|'(?:Base URL|API Token|Service Profile|Settings)'|\bpublish\b/i;
const IMPERATIVE =
	/^(?:Add|Ask|Change|Check|Choose|Clear|Copy|Correct|Enter|Fill in|Paste|Publish|Remove|Select|Set|Turn|Use|Write)\b/;

/** Of forms, which no model gets. */
const isOfForm = ({ type, key }: JsonObject) =>
	type === 'KeyValueProperty' &&
	isObject(key) &&
	/^(?:description|displayName|hint|default)$/.test(String(key.value));

test('advice that only the owner of the workflow can follow begins with "In n8n,"', () => {
	const advice = SOURCES.filter((file) => !/^credentials|\.node\.ts$/.test(file))
		.flatMap((file) => syntaxOf(file, isOfForm))
		.flatMap((part) => (textOf(part) ?? '').split(/(?<=[.:]) (?=[A-Z])/))
		.filter((sentence) => OF_THE_OWNER.test(sentence));
	expect(advice.filter((sentence) => IMPERATIVE.test(sentence))).toEqual([]);
	expect(advice.filter((sentence) => sentence.startsWith('In n8n, ')).length).toBeGreaterThan(10);
});
