/** Conventions of the forms that n8n's own rules, in `npm run scan`, don't check. */
import get from 'lodash/get';
import type { INodeProperties } from 'n8n-workflow';
import { PROVIDER_SETTINGS } from '../../nodes/shared/apiMapping/providerSettings';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, nodeTypes, PACKAGE, setupEngine } from '../engine';
import { allParameters, choicesOf, endsWell, NODES, type Parameter } from './descriptions';
import { sourceTrees } from './texts';

/** The resource of n8n's human review variant of a node. Users can't select it. */
const REVIEW_RESOURCE = 'humanReview';

let parameters: Parameter[] = [];

beforeAll(async () => {
	await setupEngine();
	parameters = allParameters();
});

/** The parameters that break a rule, with details. */
function violations(
	rule: (parameter: Parameter) => boolean | string[],
	of = ({ property: { type } }: Parameter) => type !== 'notice' && type !== 'hidden',
): string[] {
	return parameters.filter(of).flatMap((parameter) => {
		const broken = rule(parameter);
		if (Array.isArray(broken)) return broken.map((what) => `${parameter.place}: ${what}`);
		return broken ? [parameter.place] : [];
	});
}

test('checks more than 200 parameters of 14 nodes', () => {
	expect(parameters.length).toBeGreaterThan(200);
	expect(loader.types.nodes).toHaveLength(14);
});

test('an action has one input and can be used as a tool, and a trigger has no input', () => {
	for (const { name, displayName, group, inputs, usableAsTool } of loader.types.nodes) {
		const isTrigger = displayName.endsWith(' Trigger');
		expect({ name, group, inputs, usableAsTool }).toEqual(
			isTrigger
				? { name, group: ['trigger'], inputs: [], usableAsTool: undefined }
				: { name, group: [expect.stringMatching(/put$/)], inputs: ['main'], usableAsTool: true },
		);
	}
});

test('a node has its icons, and on the canvas its display name without the common prefix', () => {
	for (const { displayName, defaults, description, iconUrl } of loader.types.nodes) {
		const name = String(defaults.name);
		const names = [`Voice Agent: ${name}`, `Chat Agent: ${name.replace(/^Chat /, '')}`];
		expect(names).toContain(displayName);
		const light = typeof iconUrl === 'object' ? iconUrl.light : '';
		expect([name, iconUrl]).toEqual([
			name,
			{
				light: expect.stringMatching(/\/icons\/(?:call|list|chat|voiceChatAgent)\.svg$/),
				dark: light.replace(/\.svg$/, '.dark.svg'),
			},
		]);
		expect(description).toMatch(/[^.]$/);
	}
});

test('the subtitle of a node is made of its parameters', () => {
	for (const { name, properties, subtitle = '' } of loader.types.nodes) {
		expect([name, subtitle]).not.toEqual([name, '']);
		const used = [...subtitle.matchAll(/\$(?:rawP|p)arameter\["(\w*)"\]/g)].map(
			([, field]) => field,
		);
		const names = properties.map((property) => property.name);
		expect([name, used.filter((field = '') => !names.includes(field))]).toEqual([name, []]);
	}
});

test('a node that sends requests has the credential and its test, and every list of its fields', () => {
	for (const name of NODES) {
		const { description, methods = {} } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${name}`);
		const { credentials = [], properties } = description;
		expect(credentials.map((one) => one.name)).toEqual(
			name === 'chatDeliveryTrigger' ? [] : [CREDENTIAL],
		);
		const tests = credentials.map(({ testedBy }) => testedBy);
		expect([name, Object.keys(methods.credentialTest ?? {})]).toEqual([name, tests]);
		const lists = JSON.stringify(properties).matchAll(/"searchListMethod":"(\w*)"/g);
		const listed = new Set([...lists].map(([, list]) => list));
		expect([name, new Set(Object.keys(methods.listSearch ?? {}))]).toEqual([name, listed]);
	}
});

test("each node tells n8n's AI builder what it is for, and names related nodes of this package", () => {
	const names = new Set(loader.types.nodes.map(({ name }) => `n8n-nodes-voice-chat-agent.${name}`));
	for (const { name, builderHint } of loader.types.nodes) {
		const { searchHint = '', relatedNodes = [] } = builderHint ?? {};
		expect([name, searchHint]).toEqual([name, expect.stringMatching(/^[A-Z].{30,}\.$/)]);
		expect(relatedNodes).not.toEqual([]);
		for (const { nodeType } of relatedNodes) expect(names).toContain(nodeType);
	}
});

const ADD_BUTTONS: { [collection: string]: string } = {
	callConfigOverrides: 'Add Setting',
	developerSettings: 'Add Setting',
	filters: 'Add Filter',
};

test('placeholders begin with "e.g.", except the example that can be pasted', () => {
	const hasAddButton = ({ type }: Parameter['property']) =>
		type === 'collection' || type === 'fixedCollection';
	expect(
		violations(({ property }) => {
			if (property.name === PROVIDER_SETTINGS) return [];
			const modes = (property.modes ?? []).filter(({ type }) => type === 'string');
			const texts = [
				hasAddButton(property) ? undefined : property.placeholder,
				...modes.map(({ placeholder }) => placeholder),
			];
			return texts.filter((text) => text !== undefined && !text.startsWith('e.g. ')).map(String);
		}),
	).toEqual([]);
	expect(
		violations(
			({ property }) =>
				hasAddButton(property) &&
				(property.type === 'collection'
					? property.placeholder !== (ADD_BUTTONS[property.name] ?? 'Add Option')
					: property.placeholder?.startsWith('Add ') !== true),
		),
	).toEqual([]);
});

test('each parameter, and each of its choices, has a label', () => {
	expect(violations(({ property: { displayName } }) => !/^\S/.test(displayName))).toEqual([]);
	expect(violations(({ property }) => choicesOf(property).some(({ name }) => !name))).toEqual([]);
});

test('each operation has an action and a description', () => {
	const operations = parameters.filter(({ property }) => property.name === 'operation');
	expect(operations.length).toBeGreaterThan(5);
	for (const { place, property } of operations) {
		for (const { name, action = '', description = '' } of choicesOf(property)) {
			expect([place, name, action, description]).not.toContain('');
		}
	}
});

test('each parameter has a description, with periods as in n8n', () => {
	const explained = (property: Parameter['property']) =>
		(property.description ?? property.hint) !== undefined ||
		['collection', 'fixedCollection'].includes(property.type) ||
		choicesOf(property).some(({ description }) => description !== undefined);
	expect(violations(({ property }) => !explained(property))).toEqual([]);
	expect(
		violations(
			({ property }) => property.description !== undefined && !endsWell(property.description),
		),
	).toEqual([]);
	expect(
		violations(({ property }) =>
			choicesOf(property)
				.filter(({ description }) => description !== undefined && !endsWell(description))
				.map(({ name }) => name),
		),
	).toEqual([]);
});

/** Lists with a meaningful order, such as the default or the soonest first. */
const MEANINGFUL_ORDER = [
	...['callingDays', 'callLimit', 'sendBy', 'waitForCompletion', 'whatToDo', 'when'],
];

test('lists of choices are in alphabetical order, except lists with a meaningful order', () => {
	expect(
		violations(({ property }) => {
			// The choice for an empty value comes first.
			const names = choicesOf(property).flatMap(({ name, value }) => (value === '' ? [] : [name]));
			const sorted = [...names].sort((a, b) => a.localeCompare(b));
			return !MEANINGFUL_ORDER.includes(property.name) && names.join() !== sorted.join();
		}),
	).toEqual([]);
});

/** For developers. A user of the service finds them in a collection of their own, on every node. */
const DEVELOPER_SETTINGS = [
	'additionalBodyFields',
	'additionalQueryParameters',
	'concurrency',
	'contactsPerRequest',
	'otherEventTypes',
	'pageSize',
	'useLegacyEndpoint',
];

test('settings for developers are in Developer Settings, and nothing else is', () => {
	const misplaced = loader.types.nodes.flatMap(({ name, properties }) =>
		properties
			.filter(({ type }) => type === 'collection')
			.flatMap(({ name: collection, options = [] }) =>
				options
					.filter((option) => {
						const isInside = collection === 'developerSettings';
						return DEVELOPER_SETTINGS.includes(option.name) !== isInside;
					})
					.map((option) => `${name}: ${collection}.${option.name}`),
			),
	);
	expect(misplaced).toEqual([]);
});

test('options of a collection are in alphabetical order', () => {
	expect(
		violations(({ property }) => {
			if (property.type !== 'collection') return false;
			const names = (property.options ?? []).flatMap((one) =>
				'type' in one ? [one.displayName] : [],
			);
			return names.join() !== [...names].sort((a, b) => a.localeCompare(b)).join();
		}),
	).toEqual([]);
});

test('the label of a duration names its unit', () => {
	const timed = violations(
		({ property, visible }) =>
			property.type === 'number' &&
			/\b(time|duration|interval|wait|every)\b/i.test(property.displayName) &&
			!/\((Seconds|Minutes|Hours)\)$/.test(property.displayName) &&
			!visible.some(({ displayName }) => displayName === 'Unit'),
	);
	expect(timed).toEqual([]);
});

test('the panel of each trigger explains how to test it, with the button label of the editor', () => {
	const triggers = loader.types.nodes.filter(({ group }) => group.includes('trigger'));
	expect(triggers).toHaveLength(5);
	for (const { name, polling, triggerPanel } of triggers) {
		const button = polling === true ? 'Fetch Test Event' : 'Execute step';
		expect([name, triggerPanel]).toEqual([
			name,
			{
				header: expect.any(String),
				executionsHelp: {
					inactive: expect.stringContaining(button),
					active: expect.stringContaining(button),
				},
				activationHint: expect.stringMatching(/publish/i),
			},
		]);
	}
});

test('display conditions refer to existing parameters and possible values', () => {
	expect(
		violations(
			({ property: { displayOptions = {} }, visible }) =>
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
							.filter((value) => value !== REVIEW_RESOURCE)
							.filter((value) => !possible.some((one) => one === value))
							.map((value) => `${name} is never ${String(value)}`);
					}),
				),
			() => true,
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
		violations(
			({ property }) => patterns.some((pattern) => pattern.test(JSON.stringify(property))),
			() => true,
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

/** The switches of all collections. The fields of a fixed collection aren't added one by one. */
function addedSwitches(): Array<{ place: string; property: INodeProperties }> {
	return parameters
		.filter(({ property }) => property.type === 'collection')
		.flatMap(({ place, property }) =>
			(property.options ?? []).flatMap((member) =>
				'type' in member && member.type === 'boolean'
					? [{ place: `${place} › ${member.displayName}`, property: member }]
					: [],
			),
		);
}

test("a switch among options tells n8n's AI builder what it is unless it's set", () => {
	const options = addedSwitches().filter(({ place }) => place.includes('Options'));
	expect(options.length).toBeGreaterThan(5);
	for (const { property } of options) {
		const isOn = property.name === 'includeInputFields';
		const [unset, other] = isOn ? ['On', false] : ['Off', true];
		const propertyHint = `${unset}, unless you set ${property.name} to ${other}.`;
		expect(property).toMatchObject({ builderHint: { propertyHint } });
	}
});

test('a switch that is added from a collection is on, because leaving it out already means off', () => {
	const switches = addedSwitches();
	expect(switches.length).toBeGreaterThan(9);
	const off = switches.filter(({ property }) => property.default !== true);
	expect(off.map(({ place }) => place)).toEqual([]);
	const names = new Set(switches.map(({ property }) => property.name));
	const onIfAbsent = sourceTrees().flatMap(({ file, source }) =>
		[...source.text.matchAll(/\.switch\('(\w+)', true\)/g)].flatMap(([, name = '']) =>
			names.has(name) ? [`${file}: ${name}`] : [],
		),
	);
	expect(onIfAbsent).toEqual([]);
});
