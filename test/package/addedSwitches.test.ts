/** A switch that a person adds from a collection is on, because leaving it out already means off. */
import type { INodeProperties } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { loader, setupEngine } from '../engine';
import { parametersIn } from './descriptions';
import { sourceTrees } from './texts';

beforeAll(setupEngine);

/** The switches of all collections, at any depth. The fields of a fixed collection aren't added one by one. */
function addedSwitches(): Array<{ place: string; property: INodeProperties }> {
	const forms = [
		...loader.types.nodes.map(({ name, properties }) => ({ name, properties })),
		{ name: CREDENTIAL, properties: loader.getCredential(CREDENTIAL).type.properties },
	];
	return forms
		.flatMap(({ name, properties }) => parametersIn(properties, name))
		.filter(({ property }) => property.type === 'collection')
		.flatMap(({ place, property }) =>
			(property.options ?? []).flatMap((member) =>
				'type' in member && member.type === 'boolean'
					? [{ place: `${place} › ${member.displayName}`, property: member }]
					: [],
			),
		);
}

test('a switch that is added is on', () => {
	const switches = addedSwitches();
	expect(switches.length).toBeGreaterThan(10);
	const off = switches.filter(({ property }) => property.default !== true);
	expect(off.map(({ place }) => place)).toEqual([]);
});

test('a switch that is absent is off', () => {
	const names = new Set(addedSwitches().map(({ property }) => property.name));
	const on = sourceTrees().flatMap(({ file, source }) =>
		[...source.text.matchAll(/\.switch\('(\w+)', true\)/g)].flatMap(([, name = '']) =>
			names.has(name) ? [`${file}: ${name}`] : [],
		),
	);
	expect(on).toEqual([]);
});
