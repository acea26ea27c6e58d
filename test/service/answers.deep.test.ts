import { testAnswers } from "./answers-cases.ts";
import { Service } from "./service.ts";

const aliases = ["house-model", "second.alias"];

testAnswers(() => Service.start(aliases.flatMap((alias) => ["--alias", alias])), { short: "twig", aliases });
