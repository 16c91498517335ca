import { requestsOf, SCENES, TRIGGER, type Scene } from '../../operations/operations';
import type { Dialect } from '../../simulator';
import type { ContractCase } from '../contractCase';

/** The service accepts a number for its do-not-disturb list in a form that isn't documented. */
function phoneFor({ node, parameters: { phone } }: Scene, { dnd }: Dialect) {
	const isChanged = node === 'dnd' && dnd.phoneForms === 'digits' && typeof phone === 'string';
	return isChanged && { phone: phone.slice(1) };
}

/** Requests to n8n, tools, and files are in test/nodes. */
const isHere = ({ sends, isTool, items = [] }: Scene) =>
	sends !== TRIGGER && isTool !== true && items.every(({ binary }) => binary === undefined);

/** A case for every way to use an operation of this node. Calls end immediately. */
export const everyWay = (node: string): ContractCase[] =>
	SCENES.filter((scene) => scene.node === node && isHere(scene)).map(
		(scene): ContractCase => ({
			title: `${scene.name} sends only its requests: ${JSON.stringify(scene.parameters)}`,
			parameters: (dialect) => ({ ...scene.parameters, ...phoneFor(scene, dialect) }),
			...(scene.items !== undefined && { items: scene.items.map(({ json }) => json) }),
			prepare: (simulator) => {
				simulator.setAutoComplete({ afterMs: 0 });
				scene.prepare?.(simulator);
			},
			requests: (dialect) => requestsOf(scene, dialect),
		}),
	);
