/** The workflows of the examples folder, as a user would import and then complete them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import type { Reference } from './driver';
import { packageName, projectFolder } from './package-install';
import type { WorkflowJson } from './workflow';

export const examplesFolder = join(projectFolder, 'examples');
export const credentialType = 'voiceChatAgentApiTokenApi';

/** What a user chooses after the import: nothing of it can stand in an example. */
export interface Account {
	credential: Reference;
	agentUuid: string;
	campaignId: number;
}

const workflowJson = z.custom<WorkflowJson>(
	(value) =>
		z.object({ name: z.string(), nodes: z.array(z.object({ type: z.string() })) }).safeParse(value)
			.success,
);

export function readExample(file: string): WorkflowJson {
	return workflowJson.parse(JSON.parse(readFileSync(join(examplesFolder, file), 'utf8')));
}

export function readExamples(): WorkflowJson[] {
	return readdirSync(examplesFolder)
		.filter((file) => file.endsWith('.json'))
		.map(readExample);
}

export function completed(workflow: WorkflowJson, account: Account): WorkflowJson {
	return { ...workflow, nodes: workflow.nodes.map((node) => completedNode(node, account)) };
}

function completedNode(node: INode, { credential, agentUuid, campaignId }: Account): INode {
	if (!node.type.startsWith(`${packageName}.`)) return node;
	const parameters = { ...node.parameters };
	if ('agentUuid' in parameters) {
		parameters.agentUuid = { __rl: true, mode: 'id', value: agentUuid };
	}
	if ('campaignId' in parameters) parameters.campaignId = String(campaignId);
	return { ...node, parameters, credentials: { [credentialType]: credential } };
}
