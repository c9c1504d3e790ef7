package org.rdma4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.connection.RdmaNode;

/** What the calls of {@link MisuseTest} reach. */
class ReachTest {
  private static final Operations OPERATIONS = new Operations();

  /** What programs implement, and the library calls. */
  private static final Set<String> CALLED_BY_THE_LIBRARY =
      Set.of("MessageHandler", "OperationHandler", "RequestHandler", "WritabilityHandler");

  @Test
  void eachPublicMethodOfConnectionsIsCalled() {
    Set<String> methods = OPERATIONS.methods();
    List<String> byHand = OPERATIONS.names();
    List<String> missed =
        types().stream()
            .flatMap(ReachTest::publicMethods)
            .filter(each -> !methods.contains(AnyMethod.name(each)))
            .filter(each -> byHand.stream().noneMatch(name -> isCalledBy(name, each)))
            .map(AnyMethod::name)
            .toList();
    assertThat(missed).isEmpty();
  }

  @Test
  void unrulyCodeRunsWhereverUsersCanGiveItToTheLibrary() {
    List<String> places =
        types().stream()
            .flatMap(ReachTest::publicMethods)
            .filter(ReachTest::takesCode)
            .map(AnyMethod::name)
            .toList();
    assertThat(places).hasSizeGreaterThan(15);
    assertThat(UnrulyCalls.placesOfApi()).containsExactlyInAnyOrderElementsOf(places);
  }

  /** Returns whether the library calls what it takes, or what depends on the future it returns. */
  private static boolean takesCode(Method method) {
    return method.getReturnType() == CompletableFuture.class
        || Arrays.stream(method.getParameterTypes()).anyMatch(ReachTest::isFunction);
  }

  private static boolean isFunction(Class<?> type) {
    return type.isInterface()
        && Arrays.stream(type.getMethods())
                .filter(each -> Modifier.isAbstract(each.getModifiers()))
                .count()
            == 1;
  }

  private static List<Class<?>> types() {
    List<Class<?>> types = new ArrayList<>();
    new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(RdmaNode.class.getPackageName())
            .stream()
            .filter(each -> each.getModifiers().contains(JavaModifier.PUBLIC))
            .filter(each -> each.getPackageName().equals(RdmaNode.class.getPackageName()))
            .forEach(each -> types.add(each.reflect()));
    assertThat(types).hasSizeGreaterThan(10).contains(RdmaNode.class);
    return types.stream()
        .filter(each -> !CALLED_BY_THE_LIBRARY.contains(each.getSimpleName()))
        .filter(each -> !Throwable.class.isAssignableFrom(each) && !each.isEnum())
        .toList();
  }

  private static Stream<Method> publicMethods(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(each -> Modifier.isPublic(each.getModifiers()) && !each.isSynthetic());
  }

  /** The name of an operation is that of the method, or that with its parameters. */
  private static boolean isCalledBy(String operation, Method method) {
    String name = AnyMethod.name(method);
    return operation.equals(name) || operation.equals(name.substring(0, name.indexOf('(')));
  }
}
