/** Checks the fields that a form shows when it opens. */
import { NodeHelpers, type INode, type INodeTypeDescription } from 'n8n-workflow';
import { loader, setupEngine } from '../engine';
import { keysOf, nameOf, type SchemaKey } from '../schema/schemas';

const MAX_FIELDS = 7;

/** Users don't fill in these: notices, hidden fields, empty collections, and the choice of the form. */
const NOT_FILLED_IN = ['notice', 'hidden', 'collection', 'fixedCollection'];
const CHOOSES_THE_FORM = ['resource', 'operation', 'pollTimes'];
/** They decide whether people are called, so they're never hidden in *Options*. */
const GUARDS = ['whatToDo', 'callingHours', 'callLimit'];

beforeAll(setupEngine);

function atFirstSight(description: INodeTypeDescription, { version = 1, ...chosen }: SchemaKey) {
	const { resource, operation } = chosen;
	const given = {
		...(resource !== undefined && { resource }),
		...(operation !== undefined && { operation }),
	};
	const { name, properties } = description;
	const parameters =
		NodeHelpers.getNodeParameters(
			properties,
			given,
			true,
			false,
			{ typeVersion: version },
			description,
		) ?? {};
	const node: INode = {
		...{ id: 'id', name, type: name, typeVersion: version, position: [0, 0], parameters },
	};
	return properties.filter(
		(property) =>
			!NOT_FILLED_IN.includes(property.type) &&
			!CHOOSES_THE_FORM.includes(property.name) &&
			!GUARDS.includes(property.name) &&
			NodeHelpers.displayParameter(parameters, property, node, description),
	);
}

test('each form shows at most 7 fields, beside those that decide whether people are called', () => {
	const forms = loader.types.nodes.flatMap((description) =>
		keysOf([description]).map((key) => ({
			form: nameOf(key),
			fields: atFirstSight(description, key).map(({ displayName }) => displayName),
		})),
	);
	expect(forms.length).toBeGreaterThan(25);
	expect(forms.filter(({ fields }) => fields.length > MAX_FIELDS)).toEqual([]);
});

function notices(name: string, given: INode['parameters'], key: SchemaKey) {
	const description = loader.types.nodes.find((node) => node.name === name);
	if (description === undefined) throw new Error(`n8n loads no node ${name}`);
	const node: INode = {
		...{ id: 'id', name, type: name, typeVersion: key.version ?? 1, position: [0, 0] },
		parameters: given,
	};
	return description.properties
		.filter(({ type }) => type === 'notice')
		.filter((property) => NodeHelpers.displayParameter(given, property, node, description))
		.map(({ displayName }) => displayName);
}

test.each<[string[], number]>([
	[[], 1],
	[['message_received'], 1],
	[['mode_changed', 'message_received'], 1],
	[['mode_changed'], 0],
])(
	'with the events %j, %i notice warns that messages of Chat Send start the trigger',
	(types, count) => {
		const name = 'chatEventsTrigger';
		const shown = notices(name, { sessions: 'listed', eventTypes: types }, { node: name });
		expect(shown).toEqual(Array(count).fill(expect.stringContaining('starts itself endlessly')));
	},
);

test('a notice warns if one click can start real phone calls', () => {
	for (const operation of ['place', 'sendAndWait']) {
		expect(
			notices('placeCall', { operation, when: 'now', callLimit: 'none' }, { node: 'placeCall' }),
		).toEqual([expect.stringContaining('real phone call')]);
	}
	const push = { node: 'pushCampaignContacts' };
	for (const [whatToDo, words] of [
		['release', 'real phone calls'],
		['wait', 'nobody is called'],
		['check', 'sends nothing'],
	])
		expect(notices(push.node, { whatToDo: whatToDo ?? '' }, push)).toEqual([
			expect.stringContaining(words ?? ''),
		]);
});
