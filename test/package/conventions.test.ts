import get from 'lodash/get';
import { MAPPING_TOPICS } from '../../nodes/shared/apiMapping/topics';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, setupEngine } from '../engine';
import {
	choicesOf,
	emptyTexts,
	endsWell,
	notInTitleCase,
	parametersIn,
	type Parameter,
} from './descriptions';

/** The resource of a node that n8n makes a human review of; nobody chooses it. */
const OF_REVIEW = 'humanReview';

let parameters: Parameter[] = [];
let formOfCredential: Parameter[] = [];

beforeAll(async () => {
	await setupEngine();
	formOfCredential = parametersIn(loader.getCredential(CREDENTIAL).type.properties, 'Credential');
	parameters = [
		...loader.types.nodes.flatMap(({ properties, displayName }) =>
			parametersIn(
				// n8n adds this one to every trigger that polls.
				properties.filter(({ name }) => name !== 'pollTimes'),
				displayName,
			),
		),
		...formOfCredential,
	];
});

/** The parameters that break a rule, with what breaks it. */
function breaking(
	rule: (parameter: Parameter) => boolean | string[],
	of = ({ property: { type } }: Parameter) => type !== 'notice' && type !== 'hidden',
): string[] {
	return parameters.filter(of).flatMap((parameter) => {
		const broken = rule(parameter);
		if (Array.isArray(broken)) return broken.map((what) => `${parameter.place}: ${what}`);
		return broken ? [parameter.place] : [];
	});
}

test('there are forms to look at', () => {
	expect(parameters.length).toBeGreaterThan(200);
	expect(loader.types.nodes).toHaveLength(13);
});

test('display names and choices are in Title Case', () => {
	expect(breaking(({ property }) => notInTitleCase(property.displayName))).toEqual([]);
	expect(
		breaking(({ property }) => choicesOf(property).flatMap(({ name }) => notInTitleCase(name))),
	).toEqual([]);
});

test('what is on or off begins with “Whether”', () => {
	expect(
		breaking(
			({ property }) =>
				property.type === 'boolean' && property.description?.startsWith('Whether ') !== true,
		),
	).toEqual([]);
});

test('examples begin with “e.g.”', () => {
	const isInvitation = ({ type }: Parameter['property']) =>
		type === 'collection' || type === 'fixedCollection';
	expect(
		breaking(({ property }) => {
			const modes = (property.modes ?? []).filter(({ type }) => type === 'string');
			const texts = [
				isInvitation(property) ? undefined : property.placeholder,
				...modes.map(({ placeholder }) => placeholder),
			];
			return texts
				.filter((text) => text !== undefined && text !== '' && !text.startsWith('e.g. '))
				.map(String);
		}),
	).toEqual([]);
	expect(
		breaking(
			({ property }) =>
				isInvitation(property) &&
				(property.type === 'collection'
					? property.placeholder !== 'Add Option'
					: property.placeholder?.startsWith('Add ') !== true),
		),
	).toEqual([]);
});

test('everything is explained, in sentences that end as n8n’s do', () => {
	const explained = (property: Parameter['property']) =>
		(property.description ?? property.hint) !== undefined ||
		['collection', 'fixedCollection'].includes(property.type) ||
		choicesOf(property).some(({ description }) => description !== undefined);
	expect(breaking(({ property }) => !explained(property))).toEqual([]);
	expect(
		breaking(
			({ property }) => property.description !== undefined && !endsWell(property.description),
		),
	).toEqual([]);
	expect(
		breaking(({ property }) =>
			choicesOf(property)
				.filter(({ description }) => description !== undefined && !endsWell(description))
				.map(({ name }) => name),
		),
	).toEqual([]);
});

test('no text of a form is empty', () => {
	const forms = [...loader.types.nodes, loader.getCredential(CREDENTIAL).type];
	expect(forms.flatMap((form) => emptyTexts(form, form.displayName))).toEqual([]);
});

test('every node and the credential have a picture for bright and for dark screens', () => {
	for (const { iconUrl } of [...loader.types.nodes, loader.getCredential(CREDENTIAL).type]) {
		expect(iconUrl).toEqual({
			light: expect.stringMatching(/voiceChatAgent\.svg$/),
			dark: expect.stringMatching(/voiceChatAgent\.dark\.svg$/),
		});
	}
});

/** Choices whose order says something: what is off, usual or soonest comes first. */
const IN_ORDER = [
	'callListDateForm',
	'sendBy',
	'waitForCompletion',
	'waitLimitUnit',
	'when',
	// n8n's own, in a trigger that polls.
	'mode',
	'weekday',
	'unit',
];

test('lists of choices are in alphabetical order, unless their order says something', () => {
	expect(
		breaking(({ property }) => {
			// What nothing was chosen means comes first.
			const names = choicesOf(property).flatMap(({ name, value }) => (value === '' ? [] : [name]));
			const sorted = [...names].sort((a, b) => a.localeCompare(b));
			return !IN_ORDER.includes(property.name) && names.join() !== sorted.join();
		}),
	).toEqual([]);
});

test('what can be added to a collection is in alphabetical order', () => {
	expect(
		breaking(({ property }) => {
			if (property.type !== 'collection') return false;
			const names = (property.options ?? []).flatMap((one) =>
				'type' in one ? [one.displayName] : [],
			);
			return names.join() !== [...names].sort((a, b) => a.localeCompare(b)).join();
		}),
	).toEqual([]);
});

test('a number that counts time says its unit', () => {
	const timed = breaking(
		({ property, visible }) =>
			property.type === 'number' &&
			/\b(time|duration|interval|wait|every)\b/i.test(property.displayName) &&
			!/\((Seconds|Minutes|Hours)\)$/.test(property.displayName) &&
			!visible.some(({ displayName }) => displayName === 'Unit'),
	);
	expect(timed).toEqual([]);
});

test("each trigger says how to test it, with the button as in n8n's editor", () => {
	const triggers = loader.types.nodes.filter(({ group }) => group.includes('trigger'));
	expect(triggers).toHaveLength(4);
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

test('what decides whether a parameter is shown exists and can have that value', () => {
	expect(
		breaking(
			({ property: { displayOptions = {} }, visible }) =>
				[displayOptions.show ?? {}, displayOptions.hide ?? {}].flatMap((conditions) =>
					Object.entries(conditions).flatMap(([name, values]) => {
						// n8n's own: whether the form is that of a tool.
						if (name === '@tool') return [];
						const deciding = visible.filter((other) => other.name === name.replace(/^\//, ''));
						if (deciding.length === 0) return [`no parameter ${name}`];
						const possible = deciding.flatMap((other) =>
							other.type === 'boolean' ? [true, false] : choicesOf(other).map(({ value }) => value),
						);
						return (values ?? [])
							.filter((value) => typeof value !== 'object')
							.filter((value) => value !== OF_REVIEW)
							.filter((value) => !possible.some((one) => one === value))
							.map((value) => `${name} is never ${String(value)}`);
					}),
				),
			() => true,
		),
	).toEqual([]);
});

test('a list’s default is one of its choices', () => {
	expect(
		breaking(({ property }) => {
			const choices = choicesOf(property).map(({ value }) => value);
			if (property.type === 'options' && choices.length > 0) {
				// No country is better than another: the list begins empty and must be filled in.
				const mayBeEmpty = property.required === true && property.default === '';
				return !mayBeEmpty && !choices.some((value) => value === property.default);
			}
			if (property.type !== 'multiOptions') return false;
			return (
				!Array.isArray(property.default) ||
				property.default.some((one) => !choices.some((value) => value === one))
			);
		}),
	).toEqual([]);
});

test('no open detail has a default', () => {
	const names = MAPPING_TOPICS.flatMap(({ fields }) => Object.keys(fields));
	const asked = formOfCredential.filter(({ property }) => names.includes(property.name));
	expect(asked.map(({ property }) => property.name)).toEqual(names);
	expect(asked.filter(({ property }) => property.default !== '')).toEqual([]);
});

test('n8n checks no field by a regular expression: a busy n8n stops the workflow over one', () => {
	const patterns = [/"type":"regex"/, /"validation":/, /"extractValue":/];
	expect(
		breaking(
			({ property }) => patterns.some((pattern) => pattern.test(JSON.stringify(property))),
			() => true,
		),
	).toEqual([]);
});

test('two parameters of one name are never shown together', () => {
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

/** Shown together unless some parameter would have to have two values at once, or one is hidden where the other is shown. */
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
