/** What a person sees of a form that has just been opened. */
import { NodeHelpers, type INode, type INodeTypeDescription } from 'n8n-workflow';
import { loader, setupEngine } from '../engine';
import { keysOf, nameOf, type SchemaKey } from '../schema/schemas';

const MOST = 7;

/** Neither is filled in: a collection holds what is added to it, and these say or choose what the form is for. */
const NOT_FILLED_IN = ['notice', 'hidden', 'collection', 'fixedCollection'];
const CHOOSES_THE_FORM = ['resource', 'operation', 'pollTimes'];

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
			NodeHelpers.displayParameter(parameters, property, node, description),
	);
}

test('each form asks for seven things at most', () => {
	const asked = loader.types.nodes.flatMap((description) =>
		keysOf([description]).map((key) => ({
			form: nameOf(key),
			fields: atFirstSight(description, key).map(({ displayName }) => displayName),
		})),
	);
	expect(asked.length).toBeGreaterThan(25);
	expect(asked.filter(({ fields }) => fields.length > MOST)).toEqual([]);
});

test('what one click can set off is said on the form', () => {
	const notices = (name: string, given: INode['parameters'], key: SchemaKey) => {
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
	};
	for (const operation of ['place', 'sendAndWait']) {
		expect(notices('placeCall', { operation, when: 'now' }, { node: 'placeCall' })).toEqual([
			expect.stringContaining('real phone call'),
		]);
	}
	const push = { node: 'pushCampaignContacts' };
	expect(notices(push.node, { enqueue: true }, push)).toEqual([
		expect.stringContaining('real phone calls'),
	]);
	expect(notices(push.node, { enqueue: false }, push)).toEqual([]);
});
