import type { INodeProperties } from 'n8n-workflow';
import { operationFields, type ResourceChoice } from '../host/run/operations';
import { create } from './operations/create.operation';
import { legacyClose, legacyCreate, legacyPause } from './operations/legacy.operation';
import { close, supportCommand } from './operations/supportCommand.operation';
import { waitForEvent } from './operations/waitForEvent.operation';
import { unwatch, watch } from './operations/watch.operation';

const legacy: ResourceChoice = {
	value: 'legacy',
	name: 'Legacy (Deprecated)',
	description: "The older requests for chat sessions. Use 'Session' in new workflows.",
	operations: [legacyClose, legacyCreate, legacyPause],
	initial: legacyCreate,
};

const session: ResourceChoice = {
	value: 'session',
	name: 'Session',
	description: 'A conversation between a customer and an agent',
	operations: [close, create, supportCommand, waitForEvent],
	initial: create,
};

const watchList: ResourceChoice = {
	value: 'watchList',
	name: 'Watch List',
	description: 'The sessions that a Chat Events Trigger listens to',
	operations: [unwatch, watch],
	initial: watch,
};

const resources = [legacy, session, watchList];

export const operations = resources.flatMap((resource) => resource.operations);

export const sessionFields: INodeProperties[] = operationFields(resources, session);
