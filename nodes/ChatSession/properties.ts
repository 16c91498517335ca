import type { INodeProperties } from 'n8n-workflow';
import { shownWhere } from '../shared/n8n/forms/chatFields';
import {
	aboveOperation,
	fieldsOf,
	operationChoice,
	type Operation,
} from '../shared/n8n/run/operations';
import { create } from './operations/create.operation';
import { legacyClose, legacyCreate, legacyPause } from './operations/legacy.operation';
import { close, supportCommand } from './operations/supportCommand.operation';
import { waitForEvent } from './operations/waitForEvent.operation';
import { unwatch, watch } from './operations/watch.operation';

type Resource = {
	value: string;
	name: string;
	description: string;
	operations: Operation[];
	initial: Operation;
};

const legacy: Resource = {
	value: 'legacy',
	name: 'Legacy (Deprecated)',
	description: "The older requests for chat sessions. Use 'Session' in new workflows.",
	operations: [legacyClose, legacyCreate, legacyPause],
	initial: legacyCreate,
};

const session: Resource = {
	value: 'session',
	name: 'Session',
	description: 'A conversation between a customer and an agent',
	operations: [close, create, supportCommand, waitForEvent],
	initial: create,
};

const watchList: Resource = {
	value: 'watchList',
	name: 'Watch List',
	description: 'The sessions that a Chat Events Trigger listens to',
	operations: [unwatch, watch],
	initial: watch,
};

const resources = [legacy, session, watchList];

export const operations = resources.flatMap((resource) => resource.operations);

const resourceField: INodeProperties = {
	displayName: 'Resource',
	name: 'resource',
	type: 'options',
	noDataExpression: true,
	options: resources.map(({ name, value, description }) => ({ name, value, description })),
	default: 'session',
};

/** In the order of the screen. */
export const sessionFields: INodeProperties[] = [
	...aboveOperation(operations),
	resourceField,
	...resources.map((resource) =>
		shownWhere(operationChoice(resource.operations, resource.initial), {
			resource: [resource.value],
		}),
	),
	...fieldsOf(operations),
];
