/** Faults of a form on the screen that the rules of n8n (`npm run lint`, `npm run scan`) don't find. */
import get from 'lodash/get';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { loader, nodeTypes, PACKAGE, setupAllNodes } from '../engine';
import { allParameters, choicesOf, NODES, type Parameter } from './descriptions';

let parameters: Parameter[] = [];

beforeAll(() => {
	setupAllNodes();
	parameters = allParameters();
});

/** The parameters that break a rule, with details. */
const violations = (rule: (parameter: Parameter) => boolean | string[]): string[] =>
	parameters.flatMap((parameter) => {
		const broken = rule(parameter);
		if (Array.isArray(broken)) return broken.map((what) => `${parameter.place}: ${what}`);
		return broken ? [parameter.place] : [];
	});

test('a node has every list that its fields search', () => {
	for (const name of NODES) {
		const { description, methods = {} } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`);
		const { properties } = description;
		const lists = JSON.stringify(properties).matchAll(/"searchListMethod":"(\w*)"/g);
		expect([name, new Set(Object.keys(methods.listSearch ?? {}))]).toEqual([
			name,
			new Set([...lists].map(([, list]) => list)),
		]);
	}
});

test('one node has the test of the credential', () => {
	const tests = NODES.flatMap((name) => {
		const { description, methods = {} } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`);
		const named = (description.credentials ?? []).flatMap(({ testedBy }) => testedBy ?? []);
		return [...named, ...Object.keys(methods.credentialTest ?? {})];
	});
	expect(tests).toEqual(['voiceChatAgentApiTest', 'voiceChatAgentApiTest']);
});

const isCollection = ({ type }: INodeProperties) =>
	type === 'collection' || type === 'fixedCollection';

test('each parameter and choice has a label, each parameter an explanation, and its placeholder is an example', () => {
	const faults = violations(({ property }) => {
		const { displayName, description, hint, placeholder = '', type } = property;
		if (['notice', 'hidden'].includes(type) || property.name === 'serviceProfile') return [];
		const texts = [description, hint, ...choicesOf(property).map((choice) => choice.description)];
		const isExplained = isCollection(property) || texts.some(Boolean);
		const begins = isCollection(property) ? 'Add ' : 'e.g. ';
		const isExample = placeholder === '' || placeholder.startsWith(begins);
		const isNamed = [displayName, ...choicesOf(property).map(({ name }) => name)].every(Boolean);
		return !isNamed || !isExplained || !isExample;
	});
	expect(faults).toEqual([]);
});

const descriptionOf = (name: string) =>
	nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`).description;

/** Of descriptions, what isn't a text. */
const MAY_BE_EMPTY = ['default', 'value', 'rule', 'responseData', 'authenticate'];

test('no text of a node or the credential is empty', () => {
	const described = [...NODES.map(descriptionOf), loader.getCredential(CREDENTIAL).type];
	const empty = new RegExp(`"(?!(?:${MAY_BE_EMPTY.join('|')})")(\\w+)":(?:""|\\{\\})`, 'g');
	const faults = described.flatMap((one) =>
		[...JSON.stringify(one).matchAll(empty)].map(([, text]) => `${one.name} ${text}`),
	);
	expect(faults).toEqual([]);
});

test("n8n's AI builder learns what each node is for, and with which of these nodes it's used", () => {
	const types = new Set(NODES.map((name) => `${PACKAGE}.${name}`));
	const faults = NODES.filter((name) => {
		const { searchHint, relatedNodes = [] } = descriptionOf(name).builderHint ?? {};
		const related = relatedNodes.map((one) => (typeof one === 'string' ? one : one.nodeType));
		return !searchHint || related.length === 0 || !related.every((type) => types.has(type));
	});
	expect(faults).toEqual([]);
});

test('each operation has an action, a name, and a description', () => {
	const operations = parameters.filter(({ property }) => property.name === 'operation');
	const choices = operations.flatMap(({ property }) => choicesOf(property));
	expect(choices.length).toBeGreaterThan(20);
	const isComplete = ({ name, action, description }: INodePropertyOptions) =>
		[name, action, description].every(Boolean);
	expect(choices.filter((choice) => !isComplete(choice))).toEqual([]);
});

/** n8n cuts off a longer text after two lines, and shows the rest nowhere. */
const MAX_CHOICE_CHARACTERS = 100;

test('the text of a choice fits into the list', () => {
	const isTooLong = ({ description = '' }: INodePropertyOptions) =>
		description.length > MAX_CHOICE_CHARACTERS;
	const faults = violations(({ property }) =>
		choicesOf(property)
			.filter(isTooLong)
			.map(({ name }) => name),
	);
	expect(faults).toEqual([]);
});

test('display conditions refer to existing parameters and possible values', () => {
	expect(
		violations(({ property: { displayOptions = {} }, visible }) =>
			[displayOptions.show ?? {}, displayOptions.hide ?? {}].flatMap((conditions) =>
				Object.entries(conditions).flatMap(([name, values]) => {
					// n8n's own condition: whether the node is a tool.
					if (name === '@tool') return [];
					const deciding = parametersAt(visible, name.replace(/^\//, '').split('.'));
					if (deciding.length === 0) return [`no parameter ${name}`];
					const possible = deciding.flatMap((other) =>
						other.type === 'boolean' ? [true, false] : choicesOf(other).map(({ value }) => value),
					);
					return (values ?? [])
						.filter((value) => typeof value !== 'object')
						.filter((value) => !possible.some((one) => one === value))
						.map((value) => `${name} is never ${String(value)}`);
				}),
			),
		),
	).toEqual([]);
});

/** The parameters at a path, such as a member of a collection. */
function parametersAt(level: INodeProperties[], [name, ...inside]: string[]): INodeProperties[] {
	const found = level.filter((other) => other.name === name);
	if (inside.length === 0) return found;
	const members = found.flatMap(({ options = [] }) =>
		options.filter((option): option is INodeProperties => 'type' in option),
	);
	return parametersAt(members, inside);
}

test('no field has a pattern for n8n to check or extract, because a busy n8n then stops the workflow', () => {
	const patterns = [/"type":"regex"/, /"validation":/, /"extractValue":/];
	expect(
		violations(({ property }) =>
			patterns.some((pattern) => pattern.test(JSON.stringify(property))),
		),
	).toEqual([]);
});

test('two parameters with the same name are never shown together', () => {
	const clashes = loader.types.nodes.flatMap(({ name, properties }) =>
		properties.flatMap((one, index) =>
			properties
				.slice(index + 1)
				.filter((other) => other.name === one.name && overlap(one, other))
				.map(() => `${name} › ${one.name}`),
		),
	);
	expect(clashes).toEqual([]);
});

/** Whether two parameters can be shown together: no condition contradicts another, and neither hides the other. */
function overlap(one: Parameter['property'], other: Parameter['property']): boolean {
	if (hiddenWith(one, other) || hiddenWith(other, one)) return false;
	const a = one.displayOptions?.show ?? {};
	const b = other.displayOptions?.show ?? {};
	return Object.keys(a).every((name) => {
		const values: unknown[] = get(a, name) ?? [];
		const others: unknown[] | undefined = get(b, name);
		return others === undefined || values.some((value) => others.includes(value));
	});
}

function hiddenWith(
	{ displayOptions }: Parameter['property'],
	other: Parameter['property'],
): boolean {
	return Object.entries(displayOptions?.hide ?? {}).some(([name, hiding]) => {
		const values: unknown[] | undefined = get(other.displayOptions?.show ?? {}, name);
		return values?.every((value) => hiding?.some((one) => one === value)) === true;
	});
}

test('a switch that is added from a collection is on, because leaving it out already means off', () => {
	// The fields of a fixed collection aren't added one by one.
	const switches = parameters
		.filter(({ property }) => property.type === 'collection')
		.flatMap(({ place, property }) =>
			(property.options ?? []).flatMap((member) =>
				'type' in member && member.type === 'boolean'
					? [{ place: `${place} › ${member.displayName}`, property: member }]
					: [],
			),
		);
	expect(switches.length).toBeGreaterThan(9);
	const off = switches.filter(({ property }) => property.default !== true);
	expect(off.map(({ place }) => place)).toEqual([]);
});

/*
 * Rules of n8n that are newer than the published ones. Two others warn of fields that are right here:
 * - `non-required-fields-in-collection` wants every field with a default in a collection. The forms begin with what most
 *   people change, such as *What to Do*, and a person who doesn't see it doesn't know what the node will do.
 * - `open-ended-node-fields` wants no optional JSON. *Metadata* of a chat session is the user's own, with any fields.
 */
test('no hint has more than 120 characters (hint-max-length)', () => {
	expect(violations(({ property }) => (property.hint?.length ?? 0) > 120)).toEqual([]);
});
